import { computed, nullable, nullableAll, type Columns, type RowOf } from './column.ts'
import { foundRow, rowsOf, type Reader } from './query.ts'
import type { Scanned } from './bounded-scan.ts'

/** The order of a list: the columns that it is sorted by, of which the last one is unique, and the direction. */
export interface ScanOrder {
  readonly keys: readonly string[]
  readonly direction: 'asc' | 'desc'
  /** What the index contains in place of the first key, if it is not the column itself: an expression with its value. */
  readonly indexed?: string
}

const NEWEST_FIRST: ScanOrder = { keys: ['id'], direction: 'desc' }

/** Returns the columns of an `order by`. `table` is empty, or the name of a table with a dot. */
export function orderText({ keys, direction }: ScanOrder, table: `${string}.` | '' = ''): string {
  return keys.map((key) => `${table}${key} ${direction}`).join(', ')
}

/**
 * Builds a statement that returns the first rows of a range that pass a filter, by default the newest. It reads rows in
 * their order until the page is full or it has read `scanRowsMax` rows. If it has read `scanRowsMax` rows and the page
 * is not full, it also returns the position of the last row that it read: the row's keys, separated by dots. `range` is
 * the condition that uses the index. `limit` and `scanRowsMax` are placeholders, such as `$3`.
 */
export function scanText(parts: {
  readonly columns: string
  readonly table: string
  readonly range: string
  readonly filter: string
  readonly limit: string
  readonly scanRowsMax: string
  readonly order?: ScanOrder
}): string {
  const { columns, table, range, filter, limit, scanRowsMax, order = NEWEST_FIRST } = parts
  const { keys, indexed } = order
  // The rows are not sorted again if both orders name the same expression.
  const alias = indexed === undefined ? '' : `, ${indexed} as indexed_key`
  const byIndex = indexed === undefined ? order : { ...order, keys: [indexed, ...keys.slice(1)] }
  const byAlias = indexed === undefined ? order : { ...order, keys: ['indexed_key', ...keys.slice(1)] }
  return `with page as materialized (
      select ${columns} from (
        select *${alias} from ${table} where ${range} order by ${orderText(byIndex)} limit ${scanRowsMax}::bigint
      ) looked_at
      where ${filter} order by ${orderText(byAlias)} limit ${limit}::bigint
    )
    select page.*, case when (select count(*) from page) < ${limit}::bigint then (
        select ${keys.join(` || '.' || `)} from ${table} where ${range}
        order by ${orderText(byIndex)} offset ${scanRowsMax}::bigint - 1 limit 1
      ) end as last_looked_at
    from (select 1) one left join page on true order by ${orderText(order, 'page.')}`
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
