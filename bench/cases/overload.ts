import { setTimeout as delay } from 'node:timers/promises'
import type { FloodFigures, FloodOrder } from '../flood.ts'
import type { LoadFigures } from '../load.ts'
import { readProcessorUs, residentMiB } from '../processor-time.ts'
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
/** The load before the first flood: many payments, but not so many at once that the server turns some away. */
const PAYMENTS = { connections: 50, amount: 4_000 }

/** Measures how fast a server turns requests away while it has too much work, and whether it recovers soon after. */
export async function measureOverload(world: World): Promise<Results> {
  const server = await world.startServer()
  const flooder = world.keep(await startProcess('./flood.ts'))
  const { pid } = server.process.child
  const memory = async (): Promise<number> => (await residentMiB(pid)) ?? Number.NaN
  const readP50 = async (): Promise<number> => {
    await world.advanceClock()
    const requests = world.targets.map((target) => get(`/v1/agents/${target.agentId}`, target))
    return (await world.load.ask<LoadFigures>([{ url: server.url, ...READS, requests }])).p50Ms
  }
  const requests = world.targets.slice(0, CONNECTIONS).map(postPayment)
  // A load comes before the first measurement, because the first load always makes the memory of a process grow.
  await world.advanceClock()
  await world.load.ask<LoadFigures>([{ url: server.url, ...PAYMENTS, requests }])
  await readP50()
  await delay(RECOVERY_MS)
  const [before, readsBefore] = [await memory(), await readP50()]
  const refuser = world.keep(await startProcess<{ readonly url: string }>('./refuser.ts'))
  const figures: Figure[] = []
  for (const isPatient of [true, false]) {
    const seen = { p50: [], p99: [], floorP50: [], floorP99: [], memory: [], reads: [] } as Record<string, number[]>
    for (let flood = 0; flood < FLOODS; flood += 1) {
      await world.advanceClock()
      const order: FloodOrder = { url: server.url, seconds: SECONDS, requests, isPatient }
      const usedBefore = (await readProcessorUs([pid])) ?? Number.NaN
      const { turnedAwayMs, servedMs, failed } = await flooder.ask<FloodFigures>(order)
      const usedUs = ((await readProcessorUs([pid])) ?? Number.NaN) - usedBefore
      const bare = await flooder.ask<FloodFigures>({ ...order, url: refuser.ready.url })
      seen['floorP50']?.push(quantile(bare.turnedAwayMs, 0.5))
      seen['floorP99']?.push(quantile(bare.turnedAwayMs, 0.99))
      await delay(RECOVERY_MS)
      // A server that is fast enough turns nobody away.
      if (turnedAwayMs.length > 0) {
        seen['p50']?.push(quantile(turnedAwayMs, 0.5))
        seen['p99']?.push(quantile(turnedAwayMs, 0.99))
      }
      seen['memory']?.push(await memory())
      seen['reads']?.push(await readP50())
      const each = Math.round(usedUs / (turnedAwayMs.length + servedMs.length))
      say(
        `flood ${flood + 1}: ${servedMs.length} paid, ${turnedAwayMs.length} turned away (p50 ` +
          `${quantile(turnedAwayMs, 0.5).toFixed(0)} ms, p99 ${quantile(turnedAwayMs, 0.99).toFixed(0)} ms), ${failed} failed, ` +
          `${each} µs of processor time for each`,
      )
    }
    const who = isPatient ? 'clients that wait as long as Retry-After says' : 'clients that try again at once'
    const { p50 = [], p99 = [], floorP50 = [], floorP99 = [], memory: after = [], reads = [] } = seen
    figures.push(
      { name: `time to a 503, p50, ${who}`, unit: 'ms', values: p50, floor: floorP50, aim: '50' },
      { name: `time to a 503, p99, ${who}`, unit: 'ms', values: p99, floor: floorP99 },
      { name: `memory 5 s after the flood, ${who}`, unit: 'MiB', values: after, floor: [before] },
      { name: `p50 of reads 5 s after the flood, ${who}`, unit: 'ms', values: reads, floor: [readsBefore] },
    )
  }
  return { figures }
}
