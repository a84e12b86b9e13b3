import { pick } from '../../db/column.ts'
import { changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'

/** Returns the time of the restore that `after-restore` has begun with, and not finished. Null if there is none. */
export function findOpenRestore(): Query<Date | null> {
  return {
    name: 'find_open_restore',
    text: 'select restored_at from restores where finished_at is null order by restored_at desc limit 1',
    values: [],
    read: firstOrNull(pick(tables.restores, 'restored_at'), (row) => row.restored_at),
  }
}

export function insertRestore(restoredAt: Date): Query<boolean> {
  return {
    name: 'insert_restore',
    text: 'insert into restores (restored_at) values ($1) on conflict (restored_at) do nothing',
    values: [restoredAt],
    read: changed,
  }
}

/** Records that a restore is dealt with. Uses the primary key. */
export function markRestoreFinished(restoredAt: Date, now: Date): Query<boolean> {
  return {
    name: 'mark_restore_finished',
    text: 'update restores set finished_at = $2 where restored_at = $1 and finished_at is null',
    values: [restoredAt, now],
    read: changed,
  }
}
