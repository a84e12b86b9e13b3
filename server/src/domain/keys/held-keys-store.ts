import { pick } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { RowKey } from '../change-all-rows.ts'
import type { ApiKey } from './api-key.ts'

const { api_keys: keys } = tables

/**
 * Holds the working keys of all workspaces that were created until `restoredAt`, at most `rowsMax` after the key
 * `after`, and returns them in order. A key that was held by the same or a later restore is left out, even if an owner
 * has confirmed it since. Uses the primary key.
 */
export function holdKeysAfter(
  after: RowKey,
  rowsMax: number,
  { restoredAt, now }: { restoredAt: Date; now: Date },
): Query<(RowKey & Pick<ApiKey, 'mode' | 'name'>)[]> {
  return {
    name: 'hold_api_keys_after',
    text: `with held as (
        update api_keys set held_at = $4, confirmed_at = null
        where (workspace_id, id) in (
          select workspace_id, id from api_keys
          where (workspace_id, id) > ($1, $2) and revoked_at is null and (grace_until is null or grace_until > $5)
            and created_at <= $4 and (held_at is null or held_at < $4)
          order by workspace_id, id limit $3)
        returning workspace_id, id, mode, name
      )
      select workspace_id, id, mode, name from held order by workspace_id, id`,
    values: [after.workspaceId, after.id, rowsMax, restoredAt, now],
    read: all(pick(keys, 'workspace_id', 'id', 'mode', 'name'), (row) => ({
      workspaceId: row.workspace_id,
      id: row.id,
      mode: row.mode,
      name: row.name,
    })),
  }
}

/** Confirms held keys, so that they work again. Uses the primary key. */
export function confirmKeyRows(workspaceId: string, ids: readonly string[], now: Date): Query<boolean> {
  return {
    name: 'confirm_api_keys',
    text: `update api_keys set confirmed_at = $3
      where workspace_id = $1 and id = any($2::text[]) and held_at is not null and confirmed_at is null
        and revoked_at is null`,
    values: [workspaceId, ids, now],
    read: changed,
  }
}

/** Revokes held keys. Uses the primary key. */
export function revokeHeldKeyRows(workspaceId: string, ids: readonly string[], now: Date): Query<boolean> {
  return {
    name: 'revoke_held_api_keys',
    text: `update api_keys set revoked_at = $3
      where workspace_id = $1 and id = any($2::text[]) and held_at is not null and confirmed_at is null
        and revoked_at is null`,
    values: [workspaceId, ids, now],
    read: changed,
  }
}
