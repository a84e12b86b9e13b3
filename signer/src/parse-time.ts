const TIME_PATTERN = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Parses a time in UTC with milliseconds, of the years 1 to 9999. Returns null for any other text. */
export function parseTime(text: string): Date | null {
  const time = new Date(text)
  if (!TIME_PATTERN.test(text) || Number.isNaN(time.getTime())) return null
  // There is no 30th of February, and no hour 24.
  return time.toISOString() === text ? time : null
}
