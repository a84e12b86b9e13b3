import { setTimeout as delay } from 'node:timers/promises'
import type { FloodFigures, FloodOrder } from '../flood.ts'
import type { LoadFigures } from '../load.ts'
import { readProcessorUs, residentMiB } from '../processor-time.ts'
import type { NewcomersFigures } from '../newcomers.ts'
import { startProcess } from '../processes.ts'
import { say, type Figure, type Results } from '../report.ts'
import { quantile } from '../statistics.ts'
import type { World } from '../world.ts'
import { get, postPayment } from './requests.ts'

const CONNECTIONS = 1_000
const SECONDS = 6
/** Each kind of flood is repeated this often, to detect memory that is not released. */
const FLOODS = 3
/** The server has this long to recover from a flood, before its memory and its reads are measured again. */
const RECOVERY_MS = 5_000
const READS = { connections: 10, amount: 500 }
/** Clients of other workspaces that read during a flood, each time over a new connection. */
const NEWCOMERS = { perSecond: 40, seconds: SECONDS - 2 }
/** The load before the first flood: many payments, but not so many at once that the server turns some away. */
const PAYMENTS = { connections: 50, amount: 4_000 }

/** Measures how fast a server turns requests away while it has too much work, and whether it recovers soon after. */
export async function measureOverload(world: World): Promise<Results> {
  const server = await world.startServer()
  const flooder = world.keep(await startProcess('./flood.ts'))
  const newcomers = world.keep(await startProcess('./newcomers.ts'))
  const { pid } = server.process.child
  const memory = async (id: number | undefined): Promise<number> => (await residentMiB(id)) ?? Number.NaN
  const reads = world.targets.map((target) => get(`/v1/agents/${target.agentId}`, target))
  const readP50 = async (): Promise<number> => {
    await world.advanceClock()
    return (await world.load.ask<LoadFigures>([{ url: server.url, ...READS, requests: reads }])).p50Ms
  }
  const requests = world.targets.slice(0, CONNECTIONS).map(postPayment)
  // A load comes before the first measurement, because the first load always makes the memory of a process grow.
  await world.advanceClock()
  await world.load.ask<LoadFigures>([{ url: server.url, ...PAYMENTS, requests }])
  await readP50()
  await delay(RECOVERY_MS)
  const refuser = world.keep(await startProcess<{ readonly url: string }>('./refuser.ts'))
  await world.load.ask<LoadFigures>([{ url: refuser.ready.url, ...PAYMENTS, requests }])
  const [before, bareBefore, readsBefore] = [await memory(pid), await memory(refuser.child.pid), await readP50()]
  const figures: Figure[] = []
  for (const isPatient of [true, false]) {
    const seen = {
      ...{ first: [], p50: [], p99: [], memory: [], readP50: [], newcomerP50: [], newcomerP99: [] },
      ...{ bareFirst: [], bareP50: [], bareP99: [], bareMemory: [] },
    } as Record<string, number[]>
    const add = (name: string, value: number): void => void seen[name]?.push(value)
    for (let flood = 0; flood < FLOODS; flood += 1) {
      await world.advanceClock()
      const order: FloodOrder = { url: server.url, seconds: SECONDS, requests, isPatient }
      const usedBefore = (await readProcessorUs([pid])) ?? Number.NaN
      const [{ firstTurnedAwayMs: firstMs, turnedAwayMs, servedMs, failed }, late] = await Promise.all([
        flooder.ask<FloodFigures>(order),
        newcomers.ask<NewcomersFigures>({ url: server.url, ...NEWCOMERS, requests: reads.slice(CONNECTIONS) }),
      ])
      add('newcomerP50', quantile(late.servedMs, 0.5))
      add('newcomerP99', quantile(late.servedMs, 0.99))
      const usedUs = ((await readProcessorUs([pid])) ?? Number.NaN) - usedBefore
      await delay(RECOVERY_MS)
      add('memory', await memory(pid))
      add('readP50', await readP50())
      const bare = await flooder.ask<FloodFigures>({ ...order, url: refuser.ready.url })
      await delay(RECOVERY_MS)
      add('bareMemory', await memory(refuser.child.pid))
      add('bareFirst', quantile(bare.firstTurnedAwayMs, 0.5))
      add('bareP50', quantile(bare.turnedAwayMs, 0.5))
      add('bareP99', quantile(bare.turnedAwayMs, 0.99))
      // A server that is fast enough turns nobody away.
      if (firstMs.length > 0) add('first', quantile(firstMs, 0.5))
      if (turnedAwayMs.length > 0) {
        add('p50', quantile(turnedAwayMs, 0.5))
        add('p99', quantile(turnedAwayMs, 0.99))
      }
      const each = Math.round(usedUs / (firstMs.length + turnedAwayMs.length + servedMs.length))
      say(
        `flood ${flood + 1}: ${servedMs.length} paid (p50 ${quantile(servedMs, 0.5).toFixed(0)} ms); turned away: first ` +
          `${firstMs.length} (p50 ${quantile(firstMs, 0.5).toFixed(0)} ms), then ${turnedAwayMs.length} (p50 ` +
          `${quantile(turnedAwayMs, 0.5).toFixed(0)} ms, p99 ${quantile(turnedAwayMs, 0.99).toFixed(0)} ms); ` +
          `${failed + late.failed} failed; ${each} µs of processor time for each`,
      )
    }
    const who = isPatient ? 'clients that wait as long as Retry-After says' : 'clients that try again at once'
    const { first = [], p50 = [], p99 = [], memory: after = [], readP50: readsAfter = [] } = seen
    const { newcomerP50 = [], newcomerP99 = [] } = seen
    const { bareFirst = [], bareP50 = [], bareP99 = [], bareMemory = [] } = seen
    const all = `the first of ${CONNECTIONS} requests at once, ${who}`
    figures.push(
      { name: `time to a 503, p50, ${all}`, unit: 'ms', values: first, floor: bareFirst },
      { name: `time to a 503, p50, later, ${who}`, unit: 'ms', values: p50, floor: bareP50, aim: '50' },
      { name: `time to a 503, p99, later, ${who}`, unit: 'ms', values: p99, floor: bareP99 },
      { name: `a read over a new connection, p50, during the flood, ${who}`, unit: 'ms', values: newcomerP50 },
      { name: `a read over a new connection, p99, during the flood, ${who}`, unit: 'ms', values: newcomerP99 },
      { name: `memory 5 s after the flood, ${who}`, unit: 'MiB', values: after, floor: [before] },
      { name: `the same of a bare server, ${who}`, unit: 'MiB', values: bareMemory, floor: [bareBefore] },
      { name: `p50 of reads 5 s after the flood, ${who}`, unit: 'ms', values: readsAfter, floor: [readsBefore] },
    )
  }
  return { figures }
}
