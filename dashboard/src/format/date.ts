// One way to write a date, whatever the browser's language: the page around it is in English.
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

/** An ISO 8601 time as a day in the reader's time zone: `12 Nov 2026`. */
export function formatDate(iso: string): string {
  return formatWith(DATE, iso)
}

/** An ISO 8601 time to the minute: `12 Nov 2026, 14:03`. */
export function formatTime(iso: string): string {
  return formatWith(TIME, iso)
}

function formatWith(format: Intl.DateTimeFormat, iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : format.format(date)
}
