import type { Finding } from './finding.ts'

/** Above the first difference the operator should know. Above the second, signed requests expire too early or too late. */
const SKEW_WARN_MS = 2_000
const SKEW_FAIL_MS = 5_000
const MS_PER_SECOND = 1_000
const ADVICE = "Synchronize this machine's clock and the database's with a time service (NTP)."

/** Reports how far our clock differs from another one. `ours` and `theirs` are the times of both clocks at one moment. */
export function assessSkew(name: string, { ours, theirs }: { ours: Date; theirs: Date }): Finding {
  const skewMs = Math.round(ours.getTime() - theirs.getTime())
  const size = Math.abs(skewMs)
  const level = size <= SKEW_WARN_MS ? 'ok' : size <= SKEW_FAIL_MS ? 'warn' : 'fail'
  const difference = `${(size / MS_PER_SECOND).toFixed(1)} s ${skewMs < 0 ? 'behind' : 'ahead'}`
  return { level, name, observed: `this machine's clock is ${difference}`, advice: ADVICE }
}
