import pg from 'pg'
import type { Database } from '../../../server/src/db/database.ts'
import type { QueryResultRow as Row } from 'pg'

/** Runs a query directly on the database, without the stores. */
export function readRows(db: Database, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  return db.write({ name: '', text, values, read: (rows) => [...rows] })
}

/**
 * Runs a statement without a time limit. The service's own limit is too short for inserting tens of thousands of rows.
 */
export async function runUnlimited(url: string, text: string, values: readonly unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text, [...values])
  } finally {
    await client.end()
  }
}

/** Returns the types of a workspace's events, in alphabetical order. */
export async function listEventTypes(db: Database, workspaceId: string): Promise<string[]> {
  const rows = await readRows(db, 'select type from events where workspace_id = $1 order by type', [workspaceId])
  return rows.map((row) => String(row['type']))
}

export async function readAllowance(db: Database, workspaceId: string): Promise<number> {
  const rows = await readRows(db, 'select used from allowances where workspace_id = $1', [workspaceId])
  return Number(rows[0]?.['used'] ?? 0)
}

/**
 * The number of connections to open: more than any pool has in a test. Each one is used for so long that all are open
 * at the same time.
 */
const WARMING = { connections: 10, seconds: 0.05 }

/**
 * Opens all connections of the pools before a race. Otherwise, the statements of the race would run one after the other
 * on the first connection.
 */
export async function openConnections(...databases: readonly Database[]): Promise<void> {
  await Promise.all(
    databases.flatMap((db) =>
      Array.from({ length: WARMING.connections }, () => readRows(db, 'select pg_sleep($1)', [WARMING.seconds])),
    ),
  )
}
