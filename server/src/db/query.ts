import type { QueryResult, QueryResultRow } from 'pg'

/**
 * One SQL statement with its values and the reading of its result. Stores make queries; whoever runs several of them
 * in one batch pays one round trip. `name` makes it a prepared statement: one name, one text.
 */
export interface Query<Result> {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
  readonly read: (rows: readonly Row[], count: number) => Result
}

export type Row = QueryResultRow

/** The results of a tuple of queries, in their order. */
export type Results<Queries extends readonly Query<unknown>[]> = {
  -readonly [Index in keyof Queries]: Queries[Index] extends Query<infer Result> ? Result : never
}

export function readResult<Result>(query: Query<Result>, result: QueryResult): Result {
  return query.read(result.rows as Row[], result.rowCount ?? 0)
}

/** The results of several queries, in their order. */
export function readResults<const Queries extends readonly Query<unknown>[]>(
  queries: Queries,
  results: readonly QueryResult[],
): Results<Queries> {
  return queries.map((query, index) => {
    const result = results[index]
    if (result === undefined) throw new Error(`no result ${index}`)
    return readResult(query, result)
  }) as Results<Queries>
}

/** Reads the first row with a mapper, or null when there is none. */
export function firstOrNull<Item>(map: (row: Row) => Item): (rows: readonly Row[]) => Item | null {
  return (rows) => (rows[0] === undefined ? null : map(rows[0]))
}

export function all<Item>(map: (row: Row) => Item): (rows: readonly Row[]) => Item[] {
  return (rows) => rows.map(map)
}

/** For statements that change rows: whether one was changed. */
export function changed(_rows: readonly Row[], count: number): boolean {
  return count > 0
}
