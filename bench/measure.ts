import type { LoadFigures, LoadOrder } from './load.ts'
import { readClusterUs, readProcessorUs } from './processor-time.ts'
import type { Endpoint, World } from './world.ts'

/**
 * One row of the table: something that is measured in every round. A series names the floors and the peer that it is
 * compared with. All of them are measured in turn in every round, so that whatever else runs on the machine affects
 * them alike.
 */
export interface Series {
  readonly name: string
  readonly kind: 'ours' | 'floor' | 'peer'
  /** The names of the series with which this one is compared. The first one is the floor of `aim`. */
  readonly floors?: readonly string[]
  readonly peer?: string
  /** The wanted share of the first floor's rate, or the wanted multiple of the peer's if there is no floor. */
  readonly aim?: string
  /** The processes that serve the requests. Their processor time is part of the cost of a request. */
  readonly endpoints: readonly Endpoint[]
  /** The requests of one round. They are sent by one load for each order, at the same time. */
  readonly orders: () => Promise<readonly LoadOrder[]>
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

export async function measureOnce(world: World, { name, endpoints, orders }: Series): Promise<Round> {
  await world.advanceClock()
  const wanted = await orders()
  const readTimes = (): Promise<[number | null, number | null]> =>
    Promise.all([
      readProcessorUs(endpoints.map(({ process }) => process.child.pid)),
      readClusterUs(world.postmaster),
    ])
  const [serverBefore, databaseBefore] = await readTimes()
  const figures = await world.load.ask<LoadFigures>(wanted)
  const [serverAfter, databaseAfter] = await readTimes()
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

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}
