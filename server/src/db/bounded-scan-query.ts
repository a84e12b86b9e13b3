import { computed, nullable, nullableAll, type Columns, type RowOf } from './column.ts'
import { foundRow, rowsOf, type Reader } from './query.ts'
import type { Scanned } from './bounded-scan.ts'

/**
 * Builds a statement that returns the newest rows of a range that pass a filter. It reads rows from the newest id down
 * until the page is full or it has read `scanRowsMax` rows. If it has read `scanRowsMax` rows and the page is not full,
 * it also returns the id of the last row that it read. `range` is the condition that uses the index. `limit` and
 * `scanRowsMax` are placeholders, such as `$3`.
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
 * Builds one statement for each mode, with the mode as a constant in its text. With one statement for both modes,
 * PostgreSQL could read along the primary key, through a million rows of the other mode, before it finds the first row.
 */
export function textOfMode<Name extends string>(
  name: Name,
  text: (mode: string) => string,
): (mode: Mode) => { readonly name: `${Name}_${Mode}`; readonly text: string } {
  const texts = { test: text(`'test'`), live: text(`'live'`) }
  return (mode) => ({ name: `${name}_${mode}`, text: texts[mode] })
}

const LAST_ROW = { id: nullable(computed.text), last_looked_at: nullable(computed.text) }

/**
 * Reads the result of the statement from `scanText`. If the statement found nothing, it returns one row without an id.
 */
export function readScan<Shape extends Columns, Item>(
  columns: Shape,
  map: (row: RowOf<Shape>) => Item,
): Reader<Scanned<Item>> {
  const scanned: Columns & typeof LAST_ROW = { ...LAST_ROW, ...nullableAll(columns) }
  return rowsOf(scanned, (rows) => ({
    rows: rows.filter((row) => row.id !== null).map((row) => map(foundRow(columns, row))),
    lastLookedAt: rows[0]?.last_looked_at ?? null,
  }))
}
