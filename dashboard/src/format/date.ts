// One way to write a date, whatever the browser's language: the page around it is in English.
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const SECOND = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** An ISO 8601 time as a day in the reader's time zone: `12 Nov 2026`. */
export function formatDate(iso: string): string {
  return formatWith(DATE, iso)
}

const PRECISIONS = { minute: TIME, second: SECOND, full: FULL } as const

/** An ISO 8601 time to the minute: `12 Nov 2026, 14:03`. `full`: to the second, with its zone. */
export function formatTime(iso: string, precision: keyof typeof PRECISIONS = 'minute'): string {
  return formatWith(PRECISIONS[precision], iso)
}

/** From when to when, no more said twice than needed: `12 Nov 2026, 14:00–15:00`. */
export function formatSpan(fromIso: string, toIso: string): string {
  return TIME.formatRange(new Date(fromIso), new Date(toIso))
}

/** How long ago that was, in whole minutes or hours; from a day on, and for what is to come, the time itself. */
export function formatRelativeTime(iso: string, nowMs: number): string {
  const age = nowMs - new Date(iso).getTime()
  // What the clock here and the server's say may differ a little.
  if (!(age > -5 * MINUTE_MS && age < DAY_MS)) return formatTime(iso)
  if (age < MINUTE_MS) return 'just now'
  return age < HOUR_MS ? `${Math.floor(age / MINUTE_MS)} min ago` : `${Math.floor(age / HOUR_MS)} h ago`
}

function formatWith(format: Intl.DateTimeFormat, iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : format.format(date)
}
