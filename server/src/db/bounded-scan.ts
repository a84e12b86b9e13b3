/** How many rows may be read for one page of a filtered list, even if few of them match. */
export const SCAN_ROWS_MAX = 20_000

/**
 * The result of a scan: the rows that match, newest first. If the scan stopped because it had read `SCAN_ROWS_MAX`
 * rows, `lastLookedAt` is the id of the last row that it read. Otherwise it is null: the page was full, or there were
 * no more rows.
 */
export interface Scanned<Item> {
  readonly rows: readonly Item[]
  readonly lastLookedAt: string | null
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /**
   * The next page contains the items below this id. Null if there is no next page. A page without items may have a next
   * page.
   */
  readonly next: string | null
}

/** Makes a page of `limit` items from a scan that asked for `limit + 1` rows. */
export function toPage<Item extends { readonly id: string }>(
  { rows, lastLookedAt }: Scanned<Item>,
  limit: number,
): Page<Item> {
  const items = rows.slice(0, limit)
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : lastLookedAt }
}
