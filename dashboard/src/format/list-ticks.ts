const TICKS_MAX = 5
const HOURS_APART = 6
const DAY_MS = 24 * 3_600_000

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

interface Tick {
  /** The place on the axis, from 0 to 1. */
  readonly part: number
  readonly text: string
}

/**
 * A few labels for the axis of bars that begin at these times, in the user's time zone: round hours if the bars are
 * hours, otherwise days. The last day always has a label, so that the axis shows where it ends. A label that is closer to
 * it than the usual distance is left out, so that they do not overlap on a phone.
 */
export function listTicks(barsAt: readonly string[], end: string): readonly Tick[] {
  const starts = barsAt.map((at) => new Date(at))
  const [first = new Date(end)] = starts
  const isOneDay = starts.length > 1 && new Date(end).getTime() - first.getTime() <= DAY_MS + 2 * 3_600_000
  if (isOneDay) return listHours([...starts, new Date(end)])
  const apart = Math.max(1, Math.ceil((starts.length - 1) / (TICKS_MAX - 1)))
  const last = starts.length - 1
  return starts
    .map((at, bar) => ({ at, bar }))
    .filter(({ bar }) => bar === last || (bar % apart === 0 && last - bar >= apart))
    .map(({ at, bar }) => ({ part: (bar + 0.5) / starts.length, text: DAY.format(at) }))
}

/** Labels every sixth hour, and the end of the day. */
function listHours(hours: readonly Date[]): readonly Tick[] {
  const last = hours.length - 1
  return hours
    .map((at, hour) => ({ at, hour }))
    .filter(({ at, hour }) => hour === last || (at.getHours() % HOURS_APART === 0 && at.getMinutes() === 0))
    .map(({ at, hour }) => ({ part: hour / last, text: CLOCK.format(at) }))
}
