import type { DripOrder } from '../dripper.ts'
import type { LoadFigures } from '../load.ts'
import { readProcessorUs, residentMiB } from '../processor-time.ts'
import { startProcess } from '../processes.ts'
import type { Results } from '../report.ts'
import type { World } from '../world.ts'
import { get, postPayment } from './requests.ts'

const IDLE = 5_000
const DRIPPING = 500
const CONNECTIONS = 10
const SECONDS = 3
const ROUNDS = 3

/**
 * How much slower requests are while thousands of unused connections are open. The floor is the same requests without
 * these connections.
 */
export async function measureConnections(world: World): Promise<Results> {
  const server = await world.startServer()
  const { pid } = server.process.child
  const steady = { url: server.url, connections: CONNECTIONS, seconds: SECONDS }
  const orders = {
    reads: { ...steady, requests: world.targets.map((target) => get(`/v1/agents/${target.agentId}`, target)) },
    payments: { ...steady, requests: world.targets.map(postPayment) },
  }
  const measure = async () => {
    const seen = { reads: [], payments: [], cost: [] } as Record<keyof typeof orders | 'cost', number[]>
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const kind of ['reads', 'payments'] as const) {
        await world.advanceClock()
        const before = (await readProcessorUs([pid])) ?? Number.NaN
        const { p99Ms, succeeded } = await world.load.ask<LoadFigures>([orders[kind]])
        seen[kind].push(p99Ms)
        if (kind === 'payments') seen.cost.push((((await readProcessorUs([pid])) ?? Number.NaN) - before) / succeeded)
      }
    }
    return { ...seen, memory: [(await residentMiB(pid)) ?? Number.NaN] }
  }
  await measure() // warm-up
  const without = await measure()
  const dripper = world.keep(await startProcess('./dripper.ts'))
  const order: DripOrder = { port: Number(new URL(server.url).port), idle: IDLE, dripping: DRIPPING }
  const opened = await dripper.ask<number>(order)
  if (opened < IDLE) throw new Error(`only ${opened} connections are open`)
  const beside = await measure()
  const open = await dripper.ask<number>({ count: true })
  return {
    figures: [
      { name: 'connections that are open at the end', unit: 'connections', values: [open] },
      { name: 'p99 of reads beside them', unit: 'ms', values: beside.reads, floor: without.reads },
      { name: 'p99 of payments beside them', unit: 'ms', values: beside.payments, floor: without.payments },
      { name: 'processor time of the server for a payment', unit: 'µs', values: beside.cost, floor: without.cost },
      { name: 'memory', unit: 'MiB', values: beside.memory, floor: without.memory },
    ],
  }
}
