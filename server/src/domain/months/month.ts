/** A calendar month in UTC, such as `2026-10`. Months sort by time. */
export type Month = string & { readonly __kind: 'month' }

const MONTH_PATTERN = /^\d{4}-(0[1-9]|1[0-2])$/

/** Parses a month such as `2026-10`. Returns null if the text is none. */
export function parseMonth(text: string): Month | null {
  return MONTH_PATTERN.test(text) ? (text as Month) : null
}

/** Returns the month that contains a time. */
export function monthAt(time: Date): Month {
  return time.toISOString().slice(0, 'YYYY-MM'.length) as Month
}

/** Returns when a month begins. */
export function startOfMonth(month: Month): Date {
  return new Date(`${month}-01T00:00:00.000Z`)
}

/** Returns the month that is `count` months later, or earlier if `count` is negative. */
export function addMonths(month: Month, count: number): Month {
  const start = startOfMonth(month)
  return monthAt(new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + count, 1)))
}

/**
 * The first block of a month. The balance with which the month begins is the one after the block before it: that block
 * is the last one of the previous month, and `parentHash` is its hash.
 */
export interface MonthBlock {
  readonly month: Month
  readonly firstBlock: bigint
  readonly parentHash: string
  /** Whether the block is so deep that no reorganization replaces it. */
  readonly isFinal: boolean
  /** When the block is checked, or balances are read, the next time. Null if nothing is left to do. */
  readonly nextReadAt: Date | null
}

/** At most this many months are recorded, the newest ones. */
export const MONTHS_MAX = 120
/** How deep the first block of a month is when its balances become final. Reorganizations are less deep. */
export const FINAL_DEPTH = 30n
