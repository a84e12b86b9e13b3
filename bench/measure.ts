import type { LoadFigures, LoadOrder } from './load.ts'
import type { BenchProcess } from './processes.ts'
import { readClusterUs, readProcessorUs } from './processor-time.ts'
import type { Endpoint, World } from './world.ts'

/**
 * One row of the table: something that is measured in every round. A series names what it is compared with: its floors
 * (minimal servers) and its peer (other software that does the same job). All of them are measured in turn in every
 * round, so that whatever else runs on the machine affects them alike.
 */
export interface Series {
  readonly name: string
  readonly kind: 'ours' | 'floor' | 'peer'
  /**
   * The names of the floors with which this series is compared. An `aim` that is a number refers to the first floor.
   */
  readonly floors?: readonly string[]
  readonly peer?: string
  /** The wanted share of the first floor's rate, or a text that names another comparison, such as `1.5 of the peer`. */
  readonly aim?: string
  /** The processes that serve the requests. Their processor time is part of the cost of a request. */
  readonly endpoints: readonly Endpoint[]
  /**
   * Prepares a round, and returns the function that runs the round. Only that function is measured. `load` is the
   * process that sends the requests.
   */
  readonly prepare: (load: BenchProcess<unknown>) => Promise<() => Promise<LoadFigures>>
}

/** Returns the `prepare` of a series that sends requests: one load for each order, all at the same time. */
export function sendLoad(orders: () => Promise<readonly LoadOrder[]>): Series['prepare'] {
  return async (load) => {
    const wanted = await orders()
    return async () => await load.ask<LoadFigures>(wanted)
  }
}

/** What one round of a series measured. */
export interface Round extends LoadFigures {
  /** Processor time per request, in microseconds: of the serving processes, and of PostgreSQL. Null if not known. */
  readonly serverUs: number | null
  readonly databaseUs: number | null
}

export type Measured = ReadonlyMap<string, readonly Round[]>

/** Measures every series in each of `rounds` rounds, after one round as a warm-up. */
export async function measureAll(
  world: World,
  series: readonly Series[],
  { rounds, onRound }: { rounds: number; onRound: (line: string) => void },
): Promise<Measured> {
  const measured = new Map<string, Round[]>()
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of series) {
      const figures = await measureOnce(world, one)
      if (round === 0) continue
      measured.set(one.name, [...(measured.get(one.name) ?? []), figures])
      onRound(`round ${round}: ${one.name}: ${describeRound(figures)}`)
    }
  }
  return measured
}

async function measureOnce(world: World, { name, endpoints, prepare }: Series): Promise<Round> {
  await world.advanceClock()
  const run = await prepare(world.load)
  const pids = endpoints.map(({ process }) => process.child.pid)
  const read = () => Promise.all([readProcessorUs(pids), readClusterUs(world.postmaster)])
  const [serverBefore, databaseBefore] = await read()
  const figures = await run()
  const [serverAfter, databaseAfter] = await read()
  if (figures.succeeded === 0) throw new Error(`${name}: no request succeeded (${figures.failure ?? 'no response'})`)
  const perRequest = (before: number | null, after: number | null): number | null =>
    before === null || after === null ? null : (after - before) / figures.succeeded
  return {
    ...figures,
    serverUs: perRequest(serverBefore, serverAfter),
    databaseUs: perRequest(databaseBefore, databaseAfter),
  }
}

function describeRound({ perSecond, p50Ms, p99Ms, serverUs, databaseUs, failed, failure }: Round): string {
  const cost = serverUs === null ? '' : `, processor ${Math.round(serverUs)} + ${Math.round(databaseUs ?? 0)} µs`
  const faults = failed === 0 ? '' : `, ${failed} failed (${failure ?? 'no response'})`
  return `${Math.round(perSecond)}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms${cost}${faults}`
}
