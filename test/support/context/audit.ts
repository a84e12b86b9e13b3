import type { Database } from '../../../server/src/db/database.ts'
import type { QueryResultRow as Row } from 'pg'
import { readRows } from '../database/read-rows.ts'

/**
 * Returns the rows of an audit log from the database, oldest first, without ids and times. Entries of one millisecond
 * are in the order in which they were written: `ctid` is a row's place in the table.
 */
export async function readAudit(db: Database, logId: string): Promise<Row[]> {
  return await readRows(
    db,
    `select actor_kind, actor_id, action, subject, details from audit_entries where log_id = $1 order by created_at, ctid`,
    [logId],
  )
}

/** Returns the actions of an audit log, oldest first. */
export async function listAuditActions(db: Database, logId: string): Promise<string[]> {
  return (await readAudit(db, logId)).map((row) => String(row['action']))
}
