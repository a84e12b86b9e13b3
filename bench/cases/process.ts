import { setTimeout as delay } from 'node:timers/promises'
import { residentMiB } from '../processor-time.ts'
import type { Figure, Results } from '../report.ts'
import { startProcess } from '../processes.ts'
import type { Endpoint, World } from '../world.ts'
import { FLOOR_PAY, paymentSeries } from './reads.ts'

const STARTS = 5
const LOAD_SECONDS = 10
const SAMPLE_MS = 200
/** How long the server is left alone after the load, before its memory is read again. */
const QUIET_MS = 60_000

/** Measures the time to start a process, and the memory that it needs while idle, under load, and after the load. */
export async function measureProcess(world: World): Promise<Results> {
  const [started, floorStarted] = [await measureStarts(world), await measureBareStarts()]
  const [server, floor] = [await world.startServer(), await world.floor()]
  const memory = await measureMemory(world, server)
  const floorMemory = await measureMemory(world, floor)
  const rows: [keyof Memory, string, string?][] = [
    ['idle', 'memory, idle', '150'],
    ['peak', 'memory, the most under load'],
    ['after', 'memory, directly after the load', '300'],
    ['quiet', `memory, ${QUIET_MS / 1_000} s after the load`, '300'],
  ]
  const memoryFigures = rows.map(([key, name, aim]): Figure => {
    const figure = { name, unit: 'MiB', values: [memory[key]], floor: [floorMemory[key]] } as const
    return aim === undefined ? figure : { ...figure, aim }
  })
  return {
    figures: [{ name: 'start of a process', unit: 'ms', values: started, floor: floorStarted }, ...memoryFigures],
  }
}

async function measureStarts(world: World): Promise<number[]> {
  const times: number[] = []
  for (let start = 0; start < STARTS; start += 1) {
    const before = performance.now()
    const server = await world.startServer()
    times.push(performance.now() - before)
    await server.process.stop()
  }
  return times
}

/** Measures the floor of a start: how long a bare process of the same Node takes until its first message. */
async function measureBareStarts(): Promise<number[]> {
  const times: number[] = []
  for (let start = 0; start < STARTS; start += 1) {
    const before = performance.now()
    const bare = await startProcess('./bare-process.ts')
    times.push(performance.now() - before)
    await bare.stop()
  }
  return times
}

/** Resident memory, in MiB. */
interface Memory {
  readonly idle: number
  readonly peak: number
  readonly after: number
  readonly quiet: number
}

async function measureMemory(world: World, endpoint: Endpoint): Promise<Memory> {
  const read = async (): Promise<number> => (await residentMiB(endpoint.process.child.pid)) ?? Number.NaN
  const idle = await read()
  const series = await paymentSeries(world, { seconds: LOAD_SECONDS }, [endpoint])
  const isFloor = endpoint === (await world.floor())
  const chosen = series.find(({ name, kind }) => (isFloor ? name === FLOOR_PAY : kind === 'ours'))
  if (chosen === undefined) throw new Error('there is no load')
  const run = await chosen.prepare(world.load)
  let peak = idle
  const sampling = new AbortController()
  const sample = async (): Promise<void> => {
    while (!sampling.signal.aborted) {
      peak = Math.max(peak, await read())
      await delay(SAMPLE_MS)
    }
  }
  await Promise.all([run().finally(() => sampling.abort()), sample()])
  const after = await read()
  await delay(QUIET_MS)
  return { idle, peak, after, quiet: await read() }
}
