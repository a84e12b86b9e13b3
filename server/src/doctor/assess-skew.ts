import type { Finding } from './finding.ts'

/**
 * If two clocks differ by more than `SKEW_WARN_MS`, the doctor warns. If they differ by more than `SKEW_FAIL_MS`, the
 * check fails, because signed requests would expire too early or too late.
 */
const SKEW_WARN_MS = 2_000
const SKEW_FAIL_MS = 5_000
const MS_PER_SECOND = 1_000
const ADVICE = "Synchronize this machine's clock and the database's with a time service (NTP)."

/**
 * Reports how far our clock differs from another clock. `ours` and `theirs` are the times of the two clocks at the same
 * moment.
 */
export function assessSkew(name: string, { ours, theirs }: { ours: Date; theirs: Date }): Finding {
  const skewMs = Math.round(ours.getTime() - theirs.getTime())
  const size = Math.abs(skewMs)
  const level = size <= SKEW_WARN_MS ? 'ok' : size <= SKEW_FAIL_MS ? 'warn' : 'fail'
  const difference = `${(size / MS_PER_SECOND).toFixed(1)} s ${skewMs < 0 ? 'behind' : 'ahead'}`
  return { level, name, observed: `this machine's clock is ${difference}`, advice: ADVICE }
}
