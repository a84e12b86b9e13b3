/** Calendar days of a time zone. A day is written `2026-11-28`. */

const DAY_MS = 24 * 60 * 60 * 1_000
const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

/** Returns whether a text is the IANA name of a time zone that this process knows, such as `Asia/Kolkata`. */
export function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Returns whether a text is a day that exists, such as `2028-02-29`. */
export function isDay(text: string): boolean {
  return DAY_PATTERN.test(text) && addDays(text, 0) === text
}

/** Returns the day that is `count` days after a day. `count` may be negative. */
export function addDays(day: string, count: number): string {
  const at = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() + count * DAY_MS).toISOString().slice(0, 10)
}

/** Returns how many days lie between two days. It is 1 for a day and the next. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)
}

/** Returns the first day of a day's month, or of a month before it or after it. */
export function monthStart(day: string, months = 0): string {
  const [year = 0, month = 1] = day.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10)
}

/** Returns the Monday of a day's week. */
export function weekStart(day: string): string {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay()
  return addDays(day, -((weekday + 6) % 7))
}

/** A clock of one time zone. Making one is slow, so it is made once for each request. */
export interface ZoneClock {
  /** The day that it is in the zone at a time. */
  readonly dayOf: (at: Date) => string
  /** The time at which a day begins in the zone. */
  readonly startOf: (day: string) => Date
}

export function openZoneClock(zone: string): ZoneClock {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  })
  /** The date and time that the zone's clocks show, as if they were UTC. */
  const localMs = (ms: number): number => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
    const [year = 0, month = 1, day = 1] = [parts.get('year'), parts.get('month'), parts.get('day')]
    return Date.UTC(year, month - 1, day, parts.get('hour'), parts.get('minute'), parts.get('second'))
  }
  const dayOf = (at: Date): string => new Date(localMs(at.getTime())).toISOString().slice(0, 10)
  const startOf = (day: string): Date => {
    const midnightMs = Date.parse(day)
    // The clocks may change on this day, so both offsets are tried: that of the day before, and that of the day after.
    // If midnight does not exist, because the clocks go forward at midnight, the day begins at the change.
    const found = [midnightMs - DAY_MS, midnightMs + DAY_MS]
      .map((ms) => midnightMs - (localMs(ms) - ms))
      .toSorted((left, right) => left - right)
    return new Date(found.find((ms) => dayOf(new Date(ms)) === day) ?? found[0] ?? midnightMs)
  }
  return { dayOf, startOf }
}
