import type { BatchedWork, POSTPONED } from './batcher.ts'
import type { PipelinedConnection } from './pipelined-connection.ts'
import type { Query } from './query.ts'

/** What a gathered query runs on: a connection, or `Database.write` if the query is durable. */
export type GatheringLane = Pick<PipelinedConnection, 'run'>

/** One statement for the items of several callers. `Database.gather` runs it. */
export interface GatheredQuery<Item, Result> extends BatchedWork<GatheringLane, Item, Result> {
  /**
   * Whether the result must be on disk before a caller gets it. By default, a power failure may undo the statement. A
   * durable statement must not wait for rows that may stay locked for long, because all of its items would wait.
   */
  readonly isDurable: boolean
}

/** Makes a gathered query. `queryOf` returns the statement for some items, with one result for each, in their order. */
export function gathered<Item, Result>({
  queryOf,
  isDurable = false,
  ...modes
}: Omit<BatchedWork<GatheringLane, Item, Result>, 'run'> & {
  readonly queryOf: (items: readonly Item[]) => Query<readonly (Result | typeof POSTPONED)[]>
  readonly isDurable?: boolean
}): GatheredQuery<Item, Result> {
  return { ...modes, isDurable, run: (connection, items) => connection.run(queryOf(items)) }
}
