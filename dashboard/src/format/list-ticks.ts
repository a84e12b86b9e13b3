const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const TICKS_MAX = 4

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

interface Tick {
  readonly atMs: number
  readonly text: string
}

/** A few round times in the user's time zone for an axis: hours for a single day, otherwise days. */
export function listTicks(fromMs: number, toMs: number): readonly Tick[] {
  return toMs - fromMs <= DAY_MS ? listHours(fromMs, toMs) : listDays(fromMs, toMs)
}

const HOURS_APART = 6

function listHours(fromMs: number, toMs: number): readonly Tick[] {
  const ticks: Tick[] = []
  for (const at = new Date(fromMs); at.getTime() < toMs; at.setTime(at.getTime() + HOUR_MS)) {
    at.setMinutes(0, 0, 0)
    const atMs = at.getTime()
    if (atMs >= fromMs && at.getHours() % HOURS_APART === 0) ticks.push({ atMs, text: CLOCK.format(at) })
  }
  return ticks
}

/**
 * A day gets no label if it is too close to an end of the axis for the label to fit: closer than this part of the axis.
 */
const EDGE_PART = 0.03

/**
 * Counts calendar days instead of adding 24 hours, because days with a daylight saving change are longer or shorter.
 */
function listDays(fromMs: number, toMs: number): readonly Tick[] {
  const daysApart = Math.ceil((toMs - fromMs) / DAY_MS / TICKS_MAX)
  const at = new Date(fromMs)
  at.setHours(24, 0, 0, 0)
  const ticks: Tick[] = []
  for (; at.getTime() < toMs; at.setDate(at.getDate() + daysApart)) {
    const part = (at.getTime() - fromMs) / (toMs - fromMs)
    if (part > EDGE_PART && part < 1 - EDGE_PART) ticks.push({ atMs: at.getTime(), text: DAY.format(at) })
  }
  return ticks
}
