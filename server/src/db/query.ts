import type { QueryResult } from 'pg'
import type { Columns, RowOf } from './column.ts'

/**
 * One SQL statement with its values and the reader of its result. Stores make queries; a caller that runs several of
 * them in one batch pays for one round trip. `name` makes it a prepared statement: a name always has the same text.
 */
export interface Query<Result> {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
  readonly read: Reader<Result>
}

/** Makes a result of a statement's rows and of the number of rows that it returned or changed. */
export interface Reader<Result> {
  (rows: readonly RawRow[], count: number): Result
  /** The columns that it reads; absent where it reads none. */
  readonly columns?: Columns
}

/** A row as the driver returns it. Only `checkRow` makes a typed row of it. */
export type RawRow = Readonly<Record<string, unknown>>

/** The results of a tuple of queries, in their order. */
export type Results<Queries extends readonly Query<unknown>[]> = {
  -readonly [Index in keyof Queries]: Queries[Index] extends Query<infer Result> ? Result : never
}

export function readResult<Result>(query: Query<Result>, result: QueryResult<RawRow>): Result {
  return query.read(result.rows, result.rowCount ?? 0)
}

/** The results of several queries, in their order. */
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

/** Reads all rows at once. */
export function rowsOf<Shape extends Columns, Result>(
  columns: Shape,
  read: (rows: readonly RowOf<Shape>[]) => Result,
): Reader<Result> {
  return Object.assign((rows: readonly RawRow[]) => read(rows.map((row) => checkRow(columns, row))), { columns })
}

/** Reads the first row, or returns null when there is none. */
export function firstOrNull<Shape extends Columns, Item>(
  columns: Shape,
  map: (row: RowOf<Shape>) => Item,
): Reader<Item | null> {
  return rowsOf(columns, ([row]) => (row === undefined ? null : map(row)))
}

/** Reads the row of a statement that always returns one, such as a count. */
export function one<Shape extends Columns, Item>(columns: Shape, map: (row: RowOf<Shape>) => Item): Reader<Item> {
  return rowsOf(columns, ([row]) => {
    if (row === undefined) throw new Error(`no row with ${Object.keys(columns).join(', ')}`)
    return map(row)
  })
}

/** Reads every row, in their order. */
export function all<Shape extends Columns, Item>(columns: Shape, map: (row: RowOf<Shape>) => Item): Reader<Item[]> {
  return rowsOf(columns, (rows) => rows.map((row) => map(row)))
}

/** Whether a statement changed a row, or found one to lock. */
export function changed(_rows: readonly RawRow[], count: number): boolean {
  return count > 0
}

/** How many rows a statement changed. */
export function countChanged(_rows: readonly RawRow[], count: number): number {
  return count
}

/**
 * The columns of a row that a `left join` has found: they had to be declared nullable, and none of them is null here.
 */
export function foundRow<Shape extends Columns>(columns: Shape, row: object): RowOf<Shape> {
  return checkRow(columns, { ...row })
}

/**
 * The only place where a row of the driver becomes a typed row. A test compares the declared types with those that
 * PostgreSQL reports for the statement; whether a value is null is known at run time only, so it is checked here.
 */
function checkRow<Shape extends Columns>(columns: Shape, row: RawRow): RowOf<Shape> {
  for (const name in columns) {
    if (columns[name]?.isNullable === false && (row[name] ?? null) === null) {
      throw new Error(`the database returned no value in the column ${name}, which is declared as never null`)
    }
  }
  return row as RowOf<Shape>
}
