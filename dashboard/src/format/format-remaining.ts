const SECOND_MS = 1_000
const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S
const DAY_S = 24 * HOUR_S

/** The remaining time in its two largest units: `23 h 12 min`, `4 min 10 s`. Null once the time has passed. */
export function formatRemaining(iso: string, nowMs: number): string | null {
  const seconds = Math.ceil((new Date(iso).getTime() - nowMs) / SECOND_MS)
  if (!(seconds > 0)) return null
  // Up to two days are shown in hours, so that a grace period of 24 hours starts as “24 h”.
  if (seconds >= 2 * DAY_S) return formatTwoUnits(seconds, [DAY_S, 'd'], [HOUR_S, 'h'])
  if (seconds >= HOUR_S) return formatTwoUnits(seconds, [HOUR_S, 'h'], [MINUTE_S, 'min'])
  return seconds >= MINUTE_S ? formatTwoUnits(seconds, [MINUTE_S, 'min'], [1, 's']) : `${seconds} s`
}

type Unit = readonly [seconds: number, name: string]

function formatTwoUnits(seconds: number, [large, greatName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((seconds % large) / small)
  const whole = `${Math.floor(seconds / large)} ${greatName}`
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`
}
