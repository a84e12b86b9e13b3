import type { Database } from '../../../server/src/db/database.ts'
import { readRows } from '../database/read-rows.ts'

const TABLES = ['log_leaves', 'log_tiles', 'log_head', 'log_queue'] as const

/** Keeps the transparency log as it is now, for `replaceLog`. */
export async function keepLog(db: Database): Promise<void> {
  for (const table of TABLES) {
    await readRows(db, `drop table if exists kept_${table}`)
    await readRows(db, `create table kept_${table} as table ${table}`)
  }
}

/** Replaces the transparency log by the one that was kept, as a restored backup does with all tables. */
export async function replaceLog(db: Database): Promise<void> {
  await readRows(db, 'alter table log_leaves disable trigger all')
  for (const table of TABLES) {
    await readRows(db, `delete from ${table}`)
    await readRows(db, `insert into ${table} overriding system value table kept_${table}`)
  }
  await readRows(db, 'alter table log_leaves enable trigger all')
}
