import type { Cost } from './check-cost.ts'
import { median } from './statistics.ts'

/** The costs with which a run is compared, and where they were recorded. */
export interface Recorded {
  readonly machine: Machine
  readonly cases: Readonly<Record<string, Cost>>
}

export interface Machine {
  readonly processor: string
  readonly processors: number
}

/** A cost that has risen too much. */
export interface Finding {
  readonly name: string
  readonly sentence: string
}

/** The processor time of a request may rise by this share before the check fails. */
const RISE_MAX = 0.25
/**
 * The same on another machine than the one that the costs were recorded on. Processors differ in how much they need for
 * the floor's work and for ours.
 */
const RISE_MAX_ELSEWHERE = 0.5
/** The number of writes is counted, not measured, so it may hardly rise at all. */
const WRITES_RISE_MAX = 0.5

const KINDS = [
  { kind: 'server', unit: 'times the floor in the service' },
  { kind: 'database', unit: 'times the floor in PostgreSQL' },
] as const

/** Compares the median of a case's rounds with what was recorded. Returns what has risen too much. */
export function compareCosts(
  recorded: Recorded,
  { name, costs, machine }: { name: string; costs: readonly Cost[]; machine: Machine },
): Finding[] {
  const before = recorded.cases[name]
  if (before === undefined) return [{ name, sentence: `${name} has no recorded cost. Run the check with --record.` }]
  const isSameMachine =
    machine.processor === recorded.machine.processor && machine.processors === recorded.machine.processors
  const riseMax = isSameMachine ? RISE_MAX : RISE_MAX_ELSEWHERE
  const findings: Finding[] = []
  for (const { kind, unit } of KINDS) {
    const [was, is] = [before[kind], medianOf(costs, kind)]
    if (is <= was * (1 + riseMax)) continue
    const percent = Math.round((is / was - 1) * 100)
    findings.push({ name, sentence: `${name} costs ${is.toFixed(2)} ${unit}, recorded ${was.toFixed(2)} (+${percent} %)` })
  }
  const writes = medianOf(costs, 'writes')
  if (writes > before.writes + WRITES_RISE_MAX) {
    const was = before.writes.toFixed(1)
    findings.push({ name, sentence: `${name} writes ${writes.toFixed(1)} times to sockets, recorded ${was}` })
  }
  return findings
}

/** Describes a case's costs and the recorded ones in one line. */
export function describeCost(recorded: Recorded, { name, costs }: { name: string; costs: readonly Cost[] }): string {
  const before = recorded.cases[name]
  const parts = (['server', 'database', 'writes'] as const).map((kind) => {
    const values = costs.map((cost) => cost[kind])
    const [is, was] = [median(values).toFixed(2), before?.[kind].toFixed(2) ?? 'nothing']
    return `${kind} ${is} (${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}, recorded ${was})`
  })
  return `${name}: ${parts.join(', ')}`
}

export function medianOf(costs: readonly Cost[], kind: keyof Cost): number {
  return median(costs.map((cost) => cost[kind]))
}
