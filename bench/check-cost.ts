import pg from 'pg'
import type { LoadFigures } from './load.ts'
import type { Series } from './measure.ts'
import { readProcessorUs } from './processor-time.ts'
import type { World } from './world.ts'

/**
 * What a request costs in one round. The floor runs at the same time, so whatever else runs on the machine slows the
 * service and the floor alike. Times are processor times, in microseconds.
 */
export interface CostRound {
  readonly serverUs: number
  readonly serverFloorUs: number
  /** The time that PostgreSQL needs for the connections of the service. */
  readonly databaseUs: number
  readonly databaseFloorUs: number
}

export interface CostSeries {
  readonly ours: Series
  /** The floor of the service's processor time. Often the same series as `databaseFloor`, the floor of PostgreSQL's. */
  readonly serverFloor: Series
  readonly databaseFloor: Series
}

/** The names under which the service and the floor connect to PostgreSQL. */
const OUR_NAME = 'bursar'
const FLOOR_NAME = 'floor'

export async function measureCost(world: World, admin: pg.Client, series: CostSeries): Promise<CostRound> {
  const { ours, serverFloor, databaseFloor } = series
  const floors = [...new Set([serverFloor, databaseFloor])]
  await world.advanceClock()
  const runs: (() => Promise<LoadFigures>)[] = []
  for (const [index, one] of [ours, ...floors].entries()) {
    const load = world.loads[index]
    if (load === undefined) throw new Error('the benchmark has too few processes that send load')
    runs.push(await one.prepare(load))
  }
  const before = await readTimes(admin, series)
  const [figures, ...floorFigures] = await Promise.all(runs.map((run) => run()))
  const after = await readTimes(admin, series)
  const countOf = (one: Series): number =>
    (one === ours ? figures?.succeeded : floorFigures[floors.indexOf(one)]?.succeeded) ?? 0
  const used = (times: (read: Times) => ReadonlyMap<number, number>): number => {
    const start = times(before)
    return [...times(after)].reduce((sum, [pid, time]) => sum + time - (start.get(pid) ?? 0), 0)
  }
  return {
    serverUs: used((read) => read.ours) / countOf(ours),
    serverFloorUs: used((read) => read.floor) / countOf(serverFloor),
    databaseUs: used((read) => read.ourBackends) / countOf(ours),
    databaseFloorUs: used((read) => read.floorBackends) / countOf(databaseFloor),
  }
}

/** Processor times in microseconds, by process id. */
interface Times {
  readonly ours: ReadonlyMap<number, number>
  readonly floor: ReadonlyMap<number, number>
  readonly ourBackends: ReadonlyMap<number, number>
  readonly floorBackends: ReadonlyMap<number, number>
}

async function readTimes(admin: pg.Client, { ours, serverFloor }: CostSeries): Promise<Times> {
  const { rows } = await admin.query<{ pid: number; application_name: string }>(
    'select pid, application_name from pg_stat_activity where application_name = any($1)',
    [[OUR_NAME, FLOOR_NAME]],
  )
  const backends = (name: string): number[] =>
    rows.flatMap(({ pid, application_name: its }) => (its === name ? [pid] : []))
  const processesOf = ({ endpoints }: Series): number[] => endpoints.flatMap(({ process }) => process.child.pid ?? [])
  const [ourTimes, floorTimes, ourBackends, floorBackends] = await Promise.all(
    [processesOf(ours), processesOf(serverFloor), backends(OUR_NAME), backends(FLOOR_NAME)].map(readEach),
  )
  if (!ourTimes || !floorTimes || !ourBackends || !floorBackends) throw new Error('processor times are missing')
  return { ours: ourTimes, floor: floorTimes, ourBackends, floorBackends }
}

async function readEach(pids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const times = await Promise.all(pids.map(async (pid) => [pid, (await readProcessorUs([pid])) ?? 0] as const))
  return new Map(times)
}
