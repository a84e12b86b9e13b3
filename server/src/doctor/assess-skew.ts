import type { Finding } from './finding.ts'

/** Above this the operator should know; above the second one, signed requests expire too early or too late. */
const SKEW_WARN_MS = 2_000
const SKEW_FAIL_MS = 5_000
const MS_PER_SECOND = 1_000
const TODO = "Let a time service (NTP) set this machine's clock, and the database's."

/** How far our clock is from another one: `ours` is what ours said when the other one said `theirs`. */
export function assessSkew(name: string, { ours, theirs }: { ours: Date; theirs: Date }): Finding {
  const skewMs = Math.round(ours.getTime() - theirs.getTime())
  const size = Math.abs(skewMs)
  const level = size <= SKEW_WARN_MS ? 'ok' : size <= SKEW_FAIL_MS ? 'warn' : 'fail'
  const told = `${(size / MS_PER_SECOND).toFixed(1)} s ${skewMs < 0 ? 'behind' : 'ahead'}`
  return { level, name, seen: `this machine's clock is ${told}`, todo: TODO }
}
