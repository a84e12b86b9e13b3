import type { CostRound } from './check-cost.ts'
import { median } from './statistics.ts'

/** What a request of a case costs. The case's floor is a minimal server that does the same job. */
export interface Cost {
  /** The processor time that a request takes in the service and in PostgreSQL, divided by that of the floor. */
  readonly processor: number
  /** See `CostRound`. */
  readonly writes: number | null
}

/** The costs with which a run is compared, and where they were recorded. */
export interface Recorded {
  readonly machine: Machine
  readonly cases: Readonly<Record<string, Cost>>
}

export interface Machine {
  readonly processor: string
  readonly processors: number
  /** How many processes wanted to run: the averages of the last 1, 5 and 15 minutes. */
  readonly load: readonly number[]
}

/**
 * The processor time of a request may rise by this share before the check fails. If it rises by this share, the service
 * has lost a quarter of its speed, compared with its floor, since the costs were recorded.
 */
const RISE_MAX = 1 / 3
/**
 * This share replaces `RISE_MAX` if the costs were recorded on another machine, or if other programs keep this machine
 * busy. Another processor, or a busy one, can make the service slower by a different factor than its floor.
 */
const RISE_MAX_ELSEWHERE = 0.5
/** A machine is busy if more processes per processor than this want to run. The check alone causes one or two. */
const QUIET_LOAD_MAX = 3
/** The number of writes per request may rise by this. It is counted, not measured, so a small limit is enough. */
const WRITES_RISE_MAX = 0.5
/**
 * The check fails only if at least this share of the rounds is too slow. While other programs keep the machine busy,
 * single rounds are up to twice as slow as others. If the code itself is slower, nearly all rounds are too slow.
 */
const SLOW_ROUNDS_SHARE = 0.75

/**
 * Compares the rounds of a case with what was recorded. Returns a sentence about what has risen too much, or null.
 */
export function findRise(
  recorded: Recorded,
  { name, rounds, machine }: { name: string; rounds: readonly CostRound[]; machine: Machine },
): string | null {
  const before = recorded.cases[name]
  if (before === undefined) return `${name} has no recorded cost. Run the check with --record.`
  const { processor, writes } = estimateCost(rounds)
  const limit = before.processor * (1 + (isComparable(recorded.machine, machine) ? RISE_MAX : RISE_MAX_ELSEWHERE))
  const slow = rounds.filter((round) => ratioOf(round) > limit).length
  if (slow >= rounds.length * SLOW_ROUNDS_SHARE) {
    const percent = Math.round((processor / before.processor - 1) * 100)
    const times = `${processor.toFixed(2)} times its floor, recorded ${before.processor.toFixed(2)} (+${percent} %)`
    return `processor time of ${name}: ${times}; ${slow} of ${rounds.length} rounds were over the limit`
  }
  if (writes !== null && before.writes !== null && writes > before.writes + WRITES_RISE_MAX) {
    return `${name} writes ${writes.toFixed(1)} times to sockets, recorded ${before.writes.toFixed(1)}`
  }
  return null
}

/** Whether this is the machine on which the costs were recorded, and no other programs keep it busy. */
function isComparable(recorded: Machine, { processor, processors, load: [load = 0] }: Machine): boolean {
  const isSame = recorded.processor === processor && recorded.processors === processors
  return isSame && load <= processors * QUIET_LOAD_MAX
}

/** Returns the median cost of the rounds. */
export function estimateCost(rounds: readonly CostRound[]): Cost {
  const writes = rounds.flatMap((round) => round.writes ?? [])
  return { processor: median(rounds.map(ratioOf)), writes: writes.length === 0 ? null : median(writes) }
}

function ratioOf({ serverUs, databaseUs, serverFloorUs, databaseFloorUs }: CostRound): number {
  return (serverUs + databaseUs) / (serverFloorUs + databaseFloorUs)
}

/** Describes a case's cost, its spread over the rounds, and the recorded cost, in one line. */
export function describeCost(recorded: Recorded, name: string, rounds: readonly CostRound[]): string {
  const [before, cost, ratios] = [recorded.cases[name], estimateCost(rounds), rounds.map(ratioOf)]
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in ${rounds.length} rounds`
  const writes =
    cost.writes === null ? '' : `; writes ${cost.writes.toFixed(2)}, recorded ${before?.writes?.toFixed(2) ?? 'never'}`
  const was = before?.processor.toFixed(2) ?? 'never'
  return `${name}: processor time ${cost.processor.toFixed(2)} of its floor (${spread}), recorded ${was}${writes}`
}
