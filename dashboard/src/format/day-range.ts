/** A range of time that is chosen by days. */
interface DayRange {
  /** The range in ISO 8601. Each is empty if that end is open. */
  readonly from: string
  readonly to: string
  /** The values of date fields: days in the user's time zone, or empty. The last day belongs to the range. */
  readonly fromDay: string
  readonly toDay: string
}

/**
 * Parses the query parameters `from` and `to`. Each is an exact time, or a day in the user's time zone. A range ends at
 * the end of its last day. Invalid parameters are ignored.
 */
export function parseDayRange(search: URLSearchParams): DayRange {
  const from = readTime(search.get('from')?.trim() ?? '', 0)
  const to = readTime(search.get('to')?.trim() ?? '', 1)
  return {
    from: from?.toISOString() ?? '',
    to: to?.toISOString() ?? '',
    fromDay: from === null ? '' : formatDay(from),
    toDay: to === null ? '' : formatDay(new Date(to.getTime() - 1)),
  }
}

const DAY_PATTERN = /^(\d{4})-(\d\d)-(\d\d)$/

/** Parses a time. A day becomes the time of its start, or of its end if `daysLater` is 1. */
function readTime(text: string, daysLater: 0 | 1): Date | null {
  const [, year, month, day] = DAY_PATTERN.exec(text) ?? []
  const isDay = year !== undefined && month !== undefined && day !== undefined
  const at = isDay ? new Date(Number(year), Number(month) - 1, Number(day) + daysLater) : new Date(text)
  return Number.isNaN(at.getTime()) ? null : at
}

function formatDay(at: Date): string {
  const parts = [at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0'))
  return [String(at.getFullYear()).padStart(4, '0'), ...parts].join('-')
}
