import { computed, nullable, type RowOf } from '../../db/column.ts'
import { all, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { lastCountOf, readLastCount } from '../../limiter/limiter-store.ts'
import { MODES, type Mode } from '../../values/mode.ts'
import type { KeySummary } from './api-key.ts'
import { KEY_COLUMNS, SHOWN_ROW, toShownKey, type Maker } from './keys-store.ts'

const { members, users } = tables

const SUMMARY_ROW = {
  ...SHOWN_ROW,
  created_by_name: nullable(users.name),
  member_since: nullable(members.created_at),
  last_count: nullable(computed.int8),
}

/** The start of a query for key summaries. The caller appends a `from` clause with `api_keys k` and `WITH_CREATOR`. */
const SUMMARY = `select k.id, k.workspace_id, k.mode, k.name, k.agent_id, k.scopes, k.last4, k.created_at, k.created_by,
    k.grace_until, k.revoked_at, k.held_at, k.confirmed_at, u.name as created_by_name, m.created_at as member_since,
    ${lastCountOf('k.secret_hash')} as last_count`

const WITH_CREATOR = `left join users u on u.id = k.created_by
    left join members m on m.workspace_id = k.workspace_id and m.user_id = k.created_by`

/** Uses the primary keys. */
export function findKeySummary(workspaceId: string, id: string): Query<KeySummary | null> {
  return {
    name: 'find_api_key_summary',
    text: `${SUMMARY} from api_keys k ${WITH_CREATOR} where k.workspace_id = $1 and k.id = $2`,
    values: [workspaceId, id],
    read: firstOrNull(SUMMARY_ROW, toSummary),
  }
}

/**
 * Lists the keys that still work, then the keys that no longer work, each group newest first. The first group is read
 * by the index `api_keys_not_revoked`, the second by `api_keys_listed`.
 */
export function listKeySummaries(workspaceId: string, mode: Mode, now: Date, limit: number): Query<KeySummary[]> {
  return {
    name: 'list_api_key_summaries',
    text: `${SUMMARY} from (
        (select ${KEY_COLUMNS}, false as has_ended from api_keys
          where workspace_id = $1 and mode = $2 and revoked_at is null and (grace_until is null or grace_until > $3)
          order by id desc limit $4)
        union all
        (select ${KEY_COLUMNS}, true from api_keys
          where workspace_id = $1 and mode = $2 and (revoked_at is not null or grace_until <= $3)
          order by id desc limit $4)
        order by has_ended, id desc limit $4
      ) k ${WITH_CREATOR} order by k.has_ended, k.id desc`,
    values: [workspaceId, mode, now, limit],
    read: all(SUMMARY_ROW, toSummary),
  }
}

/**
 * Lists the usable keys of both modes that a person made, oldest first. Uses the index `api_keys_of_creator`, or
 * `api_keys_not_revoked` if the person made many keys in other workspaces.
 */
export function listKeysMadeBy({ workspaceId, userId }: Maker, now: Date): Query<KeySummary[]> {
  return {
    name: 'list_api_keys_made_by',
    text: `${SUMMARY} from (
        select ${KEY_COLUMNS} from api_keys
        where workspace_id = $1 and mode = any($2::text[]) and created_by = $3 and revoked_at is null
          and (grace_until is null or grace_until > $4)
      ) k ${WITH_CREATOR} order by k.created_at, k.id`,
    values: [workspaceId, MODES, userId, now],
    read: all(SUMMARY_ROW, toSummary),
  }
}

/**
 * Lists the keys of both modes that wait for an owner to confirm them after a restore, oldest first. Uses the index
 * `api_keys_held`.
 */
export function listHeldKeySummaries(workspaceId: string, now: Date, limit: number): Query<KeySummary[]> {
  return {
    name: 'list_held_api_keys',
    text: `${SUMMARY} from (
        select ${KEY_COLUMNS} from api_keys
        where workspace_id = $1 and held_at is not null and confirmed_at is null and revoked_at is null
          and (grace_until is null or grace_until > $2)
        order by id limit $3
      ) k ${WITH_CREATOR} order by k.id`,
    values: [workspaceId, now, limit],
    read: all(SUMMARY_ROW, toSummary),
  }
}

function toSummary(row: RowOf<typeof SUMMARY_ROW>): KeySummary {
  return {
    ...toShownKey(row),
    createdByName: row.created_by_name,
    isByFormerMember: row.created_by !== null && row.member_since === null,
    lastUsedAt: readLastCount(row.last_count),
  }
}
