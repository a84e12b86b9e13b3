import type { Query } from '../db/query.ts'
import type { Context } from './context.ts'

/** The primary key of a row that belongs to a workspace. */
export interface RowKey {
  readonly workspaceId: string
  readonly id: string
}

/** Comes before every key. */
const BEFORE_FIRST: RowKey = { workspaceId: '', id: '' }
/** One transaction changes at most this many rows, so that it is quick and holds few locks. */
const ROWS_PER_STEP = 1_000

/**
 * Changes the rows of a table in all workspaces, in the order of their primary keys, with one transaction for each
 * `ROWS_PER_STEP` rows. `change` changes the first rows after a key, and returns them in this order. `record` returns
 * the queries that record the change of these rows. If the process dies, the finished transactions stay, and the caller
 * can start again. Returns how many rows were changed.
 */
export async function changeAllRows<Row extends RowKey>(
  ctx: Pick<Context, 'db'>,
  {
    change,
    record,
  }: {
    change: (after: RowKey, rowsMax: number) => Query<Row[]>
    record: (rows: readonly Row[]) => readonly Query<unknown>[]
  },
): Promise<number> {
  let after = BEFORE_FIRST
  let total = 0
  for (;;) {
    const start = after
    const rows = await ctx.db.transaction(async (transaction) => {
      const changed = await transaction.run(change(start, ROWS_PER_STEP))
      await transaction.commit(changed.length === 0 ? [] : record(changed))
      return changed
    })
    total += rows.length
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_STEP) return total
    after = last
  }
}
