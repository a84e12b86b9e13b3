/** How many rows may be read for one page of a filtered list, however few of them match. */
export const SCAN_ROWS_MAX = 20_000

/**
 * The rows that match, newest first. `lastLookedAt` is the id of the last row that was read, if the scan ended because
 * it had read `SCAN_ROWS_MAX` rows; null if it ended because the page was full or there were no more rows.
 */
export interface Scanned<Item> {
  readonly rows: readonly Item[]
  readonly lastLookedAt: string | null
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** The next page has the items below this id; null at the end. A page without items may have a next page. */
  readonly next: string | null
}

/** Makes a page of `limit` items from a scan for `limit + 1`. */
export function toPage<Item extends { readonly id: string }>(
  { rows, lastLookedAt }: Scanned<Item>,
  limit: number,
): Page<Item> {
  const items = rows.slice(0, limit)
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : lastLookedAt }
}
