import type { QueryResult } from 'pg'
import type { Columns, RowOf } from './column.ts'

/**
 * One SQL statement with its values and the reader of its result. Functions of the `*-store.ts` files return queries. A
 * caller can run several queries in one batch, which costs one round trip. `name` is the name of the prepared
 * statement, so two queries with the same name must have the same text.
 */
export interface Query<Result> {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
  readonly read: Reader<Result>
}

/** Converts a statement's rows, and the number of rows that it returned or changed, to a result. */
export interface Reader<Result> {
  (rows: readonly RawRow[], count: number): Result
  /** The columns that the reader uses; missing if it uses none. */
  readonly columns?: Columns
}

/** A row as the driver returns it. Only `checkRow` converts it to a typed row. */
export type RawRow = Readonly<Record<string, unknown>>

/** The results of a tuple of queries, in their order. */
export type Results<Queries extends readonly Query<unknown>[]> = {
  -readonly [Index in keyof Queries]: Queries[Index] extends Query<infer Result> ? Result : never
}

export function readResult<Result>(query: Query<Result>, result: QueryResult<RawRow>): Result {
  return query.read(result.rows, result.rowCount ?? 0)
}

/** Reads the results of several queries, in their order. */
export function readResults<const Queries extends readonly Query<unknown>[]>(
  queries: Queries,
  results: readonly QueryResult<RawRow>[],
): Results<Queries> {
  return queries.map((query, index) => {
    const result = results[index]
    if (result === undefined) throw new Error(`no result ${index}`)
    return readResult(query, result)
  }) as Results<Queries>
}

/** Makes a reader that converts all rows together to one result. */
export function rowsOf<Shape extends Columns, Result>(
  columns: Shape,
  read: (rows: readonly RowOf<Shape>[]) => Result,
): Reader<Result> {
  return Object.assign((rows: readonly RawRow[]) => read(rows.map((row) => checkRow(columns, row))), { columns })
}

/** Makes a reader that converts the first row, or returns null if there is no row. */
export function firstOrNull<Shape extends Columns, Item>(
  columns: Shape,
  map: (row: RowOf<Shape>) => Item,
): Reader<Item | null> {
  return rowsOf(columns, ([row]) => (row === undefined ? null : map(row)))
}

/** Makes a reader for a statement that always returns a row, such as a count. */
export function one<Shape extends Columns, Item>(columns: Shape, map: (row: RowOf<Shape>) => Item): Reader<Item> {
  return rowsOf(columns, ([row]) => {
    if (row === undefined) throw new Error(`no row with ${Object.keys(columns).join(', ')}`)
    return map(row)
  })
}

/** Makes a reader that converts every row, and keeps the order of the rows. */
export function all<Shape extends Columns, Item>(columns: Shape, map: (row: RowOf<Shape>) => Item): Reader<Item[]> {
  return rowsOf(columns, (rows) => rows.map((row) => map(row)))
}

/** Reads whether a statement changed a row, or locked one. */
export function changed(_rows: readonly RawRow[], count: number): boolean {
  return count > 0
}

/** Reads how many rows a statement changed. */
export function countChanged(_rows: readonly RawRow[], count: number): number {
  return count
}

/**
 * Converts the columns of a row that a `left join` has found. These columns are declared nullable, because a `left
 * join` may find no row. Here the row was found, so they have values.
 */
export function foundRow<Shape extends Columns>(columns: Shape, row: object): RowOf<Shape> {
  return checkRow(columns, { ...row })
}

/**
 * The only function that converts a row of the driver to a typed row. A test compares the declared types with those
 * that PostgreSQL reports for the statement. Whether a value is null is known only at run time, so this function checks
 * that.
 */
function checkRow<Shape extends Columns>(columns: Shape, row: RawRow): RowOf<Shape> {
  for (const name in columns) {
    if (columns[name]?.isNullable === false && (row[name] ?? null) === null) {
      throw new Error(`the database returned no value in the column ${name}, which is declared as never null`)
    }
  }
  return row as RowOf<Shape>
}
