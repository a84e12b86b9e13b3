/** RFC 3339 with an offset, because a time without one is ambiguous. */
const TIME_PATTERN = /^(\d{4}-\d\d-(\d\d))T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

/** Completes the message about a time that `parseTime` rejects. */
export const TIME_RULE = 'must be an ISO 8601 time with a UTC offset, such as "2026-06-30T12:00:00Z"'

/** Matches the end of a time whose offset begins with a space: an unencoded `+` in a query means a space. */
const SPACE_FOR_PLUS = / (\d\d:\d\d)$/

/**
 * Completes the message about a time in a query that `parseTime` rejects, as `TIME_RULE` does. If the time would be
 * valid with a `+` in place of a space, says how to encode the `+`.
 */
export function timeRuleOf(text: unknown): string {
  const isUnencoded = typeof text === 'string' && parseTime(text.replace(SPACE_FOR_PLUS, '+$1')) !== null
  return isUnencoded ? `${TIME_RULE}. In a query, an unencoded + means a space: write it as %2B` : TIME_RULE
}

/** Parses a time from outside, to the millisecond. Returns null if it is not valid. */
export function parseTime(text: string): Date | null {
  const [, date = '', day] = TIME_PATTERN.exec(text) ?? []
  // Without this check February 30 would be read as a day in March.
  if (new Date(date).getUTCDate() !== Number(day)) return null
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? null : time
}
