const SECOND_MS = 1_000
const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S
const DAY_S = 24 * HOUR_S

/** How long it is until then, in its two greatest units: `23 h 12 min`, `4 min 10 s`; null once the time has come. */
export function formatRemaining(iso: string, nowMs: number): string | null {
  const seconds = Math.ceil((new Date(iso).getTime() - nowMs) / SECOND_MS)
  if (!(seconds > 0)) return null
  // Up to two days hours say more: a grace of 24 hours begins as that.
  if (seconds >= 2 * DAY_S) return twoOf(seconds, [DAY_S, 'd'], [HOUR_S, 'h'])
  if (seconds >= HOUR_S) return twoOf(seconds, [HOUR_S, 'h'], [MINUTE_S, 'min'])
  return seconds >= MINUTE_S ? twoOf(seconds, [MINUTE_S, 'min'], [1, 's']) : `${seconds} s`
}

type Unit = readonly [seconds: number, name: string]

function twoOf(seconds: number, [great, greatName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((seconds % great) / small)
  const whole = `${Math.floor(seconds / great)} ${greatName}`
  return rest === 0 ? whole : `${whole} ${rest} ${smallName}`
}
