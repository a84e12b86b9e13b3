import type { CostRound } from './check-cost.ts'
import { median } from './statistics.ts'

/**
 * The costs with which a run is compared, and where they were recorded. A cost is the processor time that a request
 * takes in the service and in PostgreSQL, divided by that of its floor, a minimal server that does the same job.
 */
export interface RecordedCosts {
  readonly machine: Machine
  readonly cases: Readonly<Record<string, number>>
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
/** This share replaces `RISE_MAX` if other programs keep this machine busy: single rounds then differ by half. */
const RISE_MAX_BUSY = 0.5
/**
 * This share replaces `RISE_MAX` on another machine. The service and its floor do not become slower by the same factor
 * there: the refresh of a token takes 2.97 times its floor on an AMD EPYC, and the same code 5.76 times on an Intel Xeon.
 */
const RISE_MAX_ELSEWHERE = 1
/** A machine is busy if more processes per processor than this want to run. The check alone causes one or two. */
const QUIET_LOAD_MAX = 3
/**
 * The check fails only if at least this share of the rounds is too slow. While other programs keep the machine busy,
 * single rounds are up to twice as slow as others. If the code itself is slower, nearly all rounds are too slow.
 */
const SLOW_ROUNDS_SHARE = 0.75

/**
 * Compares the rounds of a case with what was recorded. Returns a sentence if its processor time has risen too much, and
 * null otherwise.
 */
export function findRise(
  recorded: RecordedCosts,
  { name, rounds, machine }: { name: string; rounds: readonly CostRound[]; machine: Machine },
): string | null {
  const before = recorded.cases[name]
  if (before === undefined) return `${name} has no recorded cost. Run the check with --record.`
  const limit = before * (1 + riseMax(recorded.machine, machine))
  const slow = rounds.filter((round) => ratioOf(round) > limit).length
  if (slow < rounds.length * SLOW_ROUNDS_SHARE) return null
  const cost = estimateCost(rounds)
  const times = `${cost.toFixed(2)} times its floor, recorded ${before.toFixed(2)} (+${Math.round((cost / before - 1) * 100)} %)`
  return `processor time of ${name}: ${times}; ${slow} of ${rounds.length} rounds were over the limit`
}

function riseMax(recorded: Machine, { processor, processors, load: [load = 0] }: Machine): number {
  if (recorded.processor !== processor || recorded.processors !== processors) return RISE_MAX_ELSEWHERE
  return load <= processors * QUIET_LOAD_MAX ? RISE_MAX : RISE_MAX_BUSY
}

/** Returns the median cost of the rounds. */
export function estimateCost(rounds: readonly CostRound[]): number {
  return median(rounds.map(ratioOf))
}

function ratioOf({ serverUs, databaseUs, serverFloorUs, databaseFloorUs }: CostRound): number {
  return (serverUs + databaseUs) / (serverFloorUs + databaseFloorUs)
}

/** Describes a case's cost, its spread over the rounds, and the recorded cost, in one line. */
export function describeCost(recorded: RecordedCosts, name: string, rounds: readonly CostRound[]): string {
  const [cost, ratios] = [estimateCost(rounds), rounds.map(ratioOf)]
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in ${rounds.length} rounds`
  const before = recorded.cases[name]?.toFixed(2) ?? 'never'
  return `${name}: processor time ${cost.toFixed(2)} of its floor (${spread}), recorded ${before}`
}
