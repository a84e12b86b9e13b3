/** RFC 3339 with an offset, because a time without one is ambiguous. */
const TIME_PATTERN = /^(\d{4}-\d\d-(\d\d))T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

/** Completes the message about a time that `parseTime` rejects. */
export const TIME_RULE = 'must be an ISO 8601 time with a UTC offset, such as "2026-06-30T12:00:00Z"'

/** Parses a time from outside, to the millisecond. Returns null if it is not valid. */
export function parseTime(text: string): Date | null {
  const [, date = '', day] = TIME_PATTERN.exec(text) ?? []
  // Without this check February 30 would be read as a day in March.
  if (new Date(date).getUTCDate() !== Number(day)) return null
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? null : time
}
