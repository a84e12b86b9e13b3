// Dates are always formatted in English, like the rest of the page, whatever the browser's language.
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const CALENDAR_DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const SECOND = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })

/** The user's time zone, for files that the server makes. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The day of an ISO 8601 time in the user's time zone: `12 Nov 2026`. */
export function formatDate(iso: string): string {
  return formatWith(DATE, iso)
}

const ZONED = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
})

const PRECISIONS = { minute: TIME, zone: ZONED, second: SECOND, full: FULL } as const

/** An ISO 8601 time to the minute: `12 Nov 2026, 14:03`. With `zone`, also the time zone. With `full`, to the second and with the
 * time zone. */
export function formatTime(iso: string, precision: keyof typeof PRECISIONS = 'minute'): string {
  return formatWith(PRECISIONS[precision], iso)
}

/** A range of time, without repeating the day: `12 Nov 2026, 14:00–15:00`. */
export function formatSpan(fromIso: string, toIso: string): string {
  return TIME.formatRange(new Date(fromIso), new Date(toIso))
}

/** How long ago a time was, in whole minutes or hours. Times over a day ago, or in the future, are shown in full. */
export function formatRelativeTime(iso: string, nowMs: number): string {
  const age = nowMs - new Date(iso).getTime()
  // The browser's clock may be a few minutes behind the server's, so a time in the near future is shown as `just now`.
  if (!(age > -5 * MINUTE_MS && age < DAY_MS)) return formatTime(iso)
  if (age < MINUTE_MS) return 'just now'
  return age < HOUR_MS ? `${Math.floor(age / MINUTE_MS)} min ago` : `${Math.floor(age / HOUR_MS)} h ago`
}

/** Calendar days such as `2026-11-01`, which belong to no time zone, without repeating what they share: `1–30 Nov 2026`. */
export function formatDays({ from, to }: { readonly from: string; readonly to: string }): string {
  return CALENDAR_DAY.formatRange(new Date(`${from}T00:00:00Z`), new Date(`${to}T00:00:00Z`))
}

function formatWith(format: Intl.DateTimeFormat, iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : format.format(date)
}
