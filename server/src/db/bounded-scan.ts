/** How many rows may be read for one page of a filtered list, even if few of them match. */
export const SCAN_ROWS_MAX = 20_000

/**
 * The result of a scan: the rows that match, in the order of the list. If the scan stopped because it had read
 * `SCAN_ROWS_MAX` rows, `lastLookedAt` is the position of the last row that it read, in most lists its id. Otherwise it
 * is null: the page was full, or there were no more rows.
 */
export interface Scanned<Item> {
  readonly rows: readonly Item[]
  readonly lastLookedAt: string | null
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /**
   * The next page contains the items after this position, in most lists below this id. Null if there is no next page. A
   * page without items may have a next page.
   */
  readonly next: string | null
}

/**
 * Makes a page of `limit` items from a scan that asked for `limit + 1` rows. `positionOf` returns the position of an
 * item in the list; by default it is the item's id.
 */
export function toPage<Item extends { readonly id: string }>(
  { rows, lastLookedAt }: Scanned<Item>,
  limit: number,
  positionOf: (item: Item) => string = ({ id }) => id,
): Page<Item> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? positionOf(last) : lastLookedAt }
}
