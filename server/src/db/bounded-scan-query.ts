import type { Row } from './query.ts'
import type { Scanned } from './bounded-scan.ts'

/**
 * The newest rows of a range that pass a filter: rows are looked at in the order of their ids, until the page is full or
 * `scanRowsMax` of them were. Only in that last case it is asked which one the last was, in the same snapshot.
 * The range is what an index is walked by; `limit` and `scanRowsMax` are placeholders of the statement.
 */
export function scanText(parts: {
  readonly columns: string
  readonly table: string
  readonly range: string
  readonly filter: string
  readonly limit: string
  readonly scanRowsMax: string
}): string {
  const { columns, table, range, filter, limit, scanRowsMax } = parts
  return `with page as materialized (
      select ${columns} from (
        select * from ${table} where ${range} order by id desc limit ${scanRowsMax}::bigint
      ) looked_at
      where ${filter} order by id desc limit ${limit}::bigint
    )
    select page.*, case when (select count(*) from page) < ${limit}::bigint then (
        select id from ${table} where ${range} order by id desc offset ${scanRowsMax}::bigint - 1 limit 1
      ) end as last_looked_at
    from (select 1) one left join page on true order by page.id desc`
}

type Mode = 'test' | 'live'

/**
 * A statement for each mode, with the mode in it as a constant: a plan that holds for both could walk the primary key,
 * where the other mode's rows stand too, perhaps a million before the first of ours.
 */
export function textOfMode<Name extends string>(
  name: Name,
  text: (mode: string) => string,
): (mode: Mode) => { readonly name: `${Name}_${Mode}`; readonly text: string } {
  const texts = { test: text(`'test'`), live: text(`'live'`) }
  return (mode) => ({ name: `${name}_${mode}`, text: texts[mode] })
}

/** There is a row without an id when nothing was found. */
export function readScan<Item>(map: (row: Row) => Item): (rows: readonly Row[]) => Scanned<Item> {
  return (rows) => ({
    rows: rows.filter((row) => row['id'] !== null).map(map),
    lastLookedAt: rows[0]?.['last_looked_at'] ?? null,
  })
}
