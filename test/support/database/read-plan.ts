import type { Database } from '../../../server/src/db/database.ts'
import type { Query } from '../../../server/src/db/query.ts'
import { readRows } from './read-rows.ts'

/** Analyzes the tables, and returns the generic plan of a query: the plan that PostgreSQL uses for any values. */
export async function readPlan(db: Database, tables: readonly string[], query: Query<unknown>): Promise<string> {
  for (const table of tables) await readRows(db, `analyze ${table}`)
  const rows = await readRows(db, `explain (generic_plan, costs off) ${query.text}`)
  return rows.map((row) => String(row['QUERY PLAN'])).join('\n')
}
