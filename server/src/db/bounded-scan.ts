/** What one page of a filtered list may cost: so many rows are looked at, however few of them fit. */
export const SCAN_ROWS_MAX = 20_000

/** The rows that fit, the newest first; and, where the bound ended the look and not the page, the id that it ended at. */
export interface Scanned<Item> {
  readonly rows: readonly Item[]
  readonly lastLookedAt: string | null
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Where the next page begins: items below this id. Null at the end. A page may have no items and yet a `next`. */
  readonly next: string | null
}

/** A page of `limit` items, of a scan for one more. */
export function toPage<Item extends { readonly id: string }>(
  { rows, lastLookedAt }: Scanned<Item>,
  limit: number,
): Page<Item> {
  const items = rows.slice(0, limit)
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : lastLookedAt }
}
