import { computed, listOf, nullable, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, one, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { countLimits, countRequestsOf, HITS_COLUMN, readCounted } from '../../limiter/limiter-store.ts'
import { MODES, type Mode } from '../../values/mode.ts'
import { SCOPES, toScopes, type Scope } from '../../values/scope.ts'
import { rolesWith, type Right } from '../../values/role.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { toPlan } from '../workspaces/workspaces-store.ts'
import type { ApiKey, MadeKey } from './api-key.ts'

const { workspaces, api_keys: keys } = tables

/** The columns of a key that people see. */
export const SHOWN_ROW = pick(
  keys,
  'id',
  'workspace_id',
  'mode',
  'name',
  'agent_id',
  'scopes',
  'last4',
  'created_at',
  'created_by',
  'grace_until',
  'revoked_at',
  'held_at',
  'confirmed_at',
)

const KEY_ROW = { ...SHOWN_ROW, secret_hash: keys.secret_hash }

const HOLDER_ROW = {
  n: computed.int4,
  ...pick(
    keys,
    'id',
    'workspace_id',
    'mode',
    'agent_id',
    'scopes',
    'grace_until',
    'revoked_at',
    'held_at',
    'confirmed_at',
  ),
  ...pick(workspaces, 'slug', 'name', 'plan', 'created_by', 'moving_since'),
  has_scope: computed.bool,
  hits: nullable(computed.text),
}

const MADE_ROW = pick(keys, 'id', 'mode', 'name', 'agent_id', 'scopes', 'last4')

/** All columns of a key, for a query that selects whole rows. */
export const KEY_COLUMNS = listOf(KEY_ROW)
const MADE_COLUMNS = listOf(MADE_ROW)

export interface KeyHolder {
  readonly key: Pick<
    ApiKey,
    'id' | 'workspaceId' | 'mode' | 'agentId' | 'graceUntil' | 'revokedAt' | 'heldAt' | 'confirmedAt'
  >
  /** What the key may do: its own scopes, or all scopes if it is not restricted to some. */
  readonly scopes: readonly Scope[]
  readonly workspace: Pick<Workspace, 'slug' | 'name' | 'plan' | 'createdBy' | 'movingSince'>
  /** Whether the key has the required scope; true if no scope is required. */
  readonly hasScope: boolean
}

export function insertKey(key: ApiKey): Query<boolean> {
  return {
    name: 'insert_api_key',
    text: `insert into api_keys (${KEY_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      key.id,
      key.workspaceId,
      key.mode,
      key.name,
      key.agentId,
      key.scopes,
      key.last4,
      key.createdAt,
      key.createdBy,
      key.graceUntil,
      key.revokedAt,
      key.heldAt,
      key.confirmedAt,
      key.secretHash,
    ],
    read: changed,
  }
}

/** A request with a key: the values with which the key's holder is found and the request is counted. */
export interface KeyRequest {
  readonly secretHash: Buffer
  readonly requiredScope: Scope | null
  readonly now: Date
}

/**
 * Returns the holder of each key, or null if there is no key with this hash, and counts the request against the key's
 * rate limit. `rate` is null if the request was not counted, because it is over the limit, the key does not have the
 * required scope, or the key is held. The list must not contain a key twice. Uses `api_keys_by_secret_hash` and primary keys; `offset 0`
 * forces the planner to use them.
 */
export function countKeyRequests(
  bucket: Bucket,
  requests: readonly KeyRequest[],
): Query<((KeyHolder & { rate: RateState | null }) | null)[]> {
  return {
    name: 'count_key_requests',
    text: `with found as materialized (
        select r.n::int4 as n, r.time, k.id, k.workspace_id, k.mode, k.agent_id, k.scopes, k.grace_until, k.revoked_at,
          k.held_at, k.confirmed_at, k.secret_hash, a.slug, a.name, a.plan, a.created_by, a.moving_since,
          r.scope is null or k.scopes is null or r.scope = any(k.scopes) as has_scope
        from unnest($1::bytea[], $5::int8[], $6::text[]) with ordinality as r (secret_hash, time, scope, n)
        cross join lateral (
          select id, workspace_id, mode, agent_id, scopes, grace_until, revoked_at, held_at, confirmed_at, secret_hash
          from api_keys where secret_hash = r.secret_hash offset 0) k
        cross join lateral (
          select slug, name, plan, created_by, moving_since from workspaces where id = k.workspace_id offset 0) a
      ), counted as (${countRequestsOf('select secret_hash as subject, time from found where has_scope and (held_at is null or confirmed_at is not null)')})
      select n, id, workspace_id, mode, agent_id, scopes, grace_until, revoked_at, held_at, confirmed_at, slug, name, plan,
        created_by, moving_since, has_scope, ${HITS_COLUMN}
      from found left join counted on counted.subject = found.secret_hash`,
    values: [
      requests.map(({ secretHash }) => secretHash),
      ...countLimits(bucket),
      requests.map(({ now }) => now.getTime()),
      requests.map(({ requiredScope }) => requiredScope),
    ],
    read: rowsOf(HOLDER_ROW, (rows) => {
      const found = new Map(rows.map((row) => [row.n, row]))
      return requests.map(({ now }, index) => {
        const row = found.get(index + 1)
        return row === undefined ? null : { ...toHolder(row), rate: readCounted(row.hits, bucket, now) }
      })
    }),
  }
}

function toHolder(row: RowOf<typeof HOLDER_ROW>): KeyHolder {
  return {
    key: {
      id: row.id,
      workspaceId: row.workspace_id,
      mode: row.mode,
      agentId: row.agent_id,
      graceUntil: row.grace_until,
      revokedAt: row.revoked_at,
      heldAt: row.held_at,
      confirmedAt: row.confirmed_at,
    },
    scopes: row.scopes === null ? SCOPES : toScopes(row.scopes),
    workspace: {
      slug: row.slug,
      name: row.name,
      plan: toPlan(row.plan),
      createdBy: row.created_by,
      movingSince: row.moving_since,
    },
    hasScope: row.has_scope,
  }
}

/**
 * Starts the grace period of a key. Returns false if the key is unknown, revoked or held, or already has a grace period.
 * Uses the primary key.
 */
export function startGrace(workspaceId: string, id: string, graceUntil: Date): Query<boolean> {
  return {
    name: 'start_key_grace',
    text: `update api_keys set grace_until = $3
      where workspace_id = $1 and id = $2 and grace_until is null and revoked_at is null
        and (held_at is null or confirmed_at is not null)`,
    values: [workspaceId, id, graceUntil],
    read: changed,
  }
}

/** Renames a key. Returns its name before, or null if there is no such key. Uses the primary key. */
export function renameKeyRow(workspaceId: string, id: string, name: string): Query<string | null> {
  return {
    name: 'rename_api_key',
    text: `with old as (select name from api_keys where workspace_id = $1 and id = $2 for no key update)
      update api_keys set name = $3 from old where workspace_id = $1 and id = $2 returning old.name as before`,
    values: [workspaceId, id, name],
    read: firstOrNull({ before: keys.name }, (row) => row.before),
  }
}

/** Revokes a key at once. Returns false if there is no such key, or if it is already revoked. Uses the primary key. */
export function revokeKeyRow(workspaceId: string, id: string, now: Date): Query<boolean> {
  return {
    name: 'revoke_api_key',
    text: 'update api_keys set revoked_at = $3 where workspace_id = $1 and id = $2 and revoked_at is null',
    values: [workspaceId, id, now],
    read: changed,
  }
}

/**
 * Revokes the usable keys that are bound to an agent, and returns the keys that it revoked. Keys that no longer work
 * are not changed. Uses the index `api_keys_not_revoked`.
 */
export function revokeKeysOfAgent(
  { workspaceId, mode, agentId }: { workspaceId: string; mode: Mode; agentId: string },
  now: Date,
): Query<MadeKey[]> {
  return {
    name: 'revoke_api_keys_of_agent',
    text: `update api_keys set revoked_at = $4
      where workspace_id = $1 and mode = $2 and agent_id = $3 and revoked_at is null
        and (grace_until is null or grace_until > $4)
      returning ${MADE_COLUMNS}`,
    values: [workspaceId, mode, agentId, now],
    read: all(MADE_ROW, toMadeKey),
  }
}

/** The person whose keys a statement is about, in one workspace. */
export interface Maker {
  readonly workspaceId: string
  readonly userId: string
}

/**
 * Revokes the usable keys of both modes that a person made, except those with the ids in `keep`. Returns the ids of
 * the keys that it revoked. Uses the same indexes as `listKeysMadeBy`: `api_keys_of_creator` or `api_keys_not_revoked`.
 */
export function revokeKeysMadeBy(
  { workspaceId, userId, keep }: Maker & { readonly keep: readonly string[] },
  now: Date,
): Query<string[]> {
  return {
    name: 'revoke_api_keys_made_by',
    text: `update api_keys set revoked_at = $4
      where workspace_id = $1 and mode = any($2::text[]) and created_by = $3 and revoked_at is null
        and (grace_until is null or grace_until > $4) and id <> all($5::text[])
      returning id`,
    values: [workspaceId, MODES, userId, now, keep],
    read: all(pick(keys, 'id'), (row) => row.id),
  }
}

/** Returns whether a person is a member of the workspace with this right. Uses the primary key of members. */
function hasRight({ workspaceId, userId }: Maker, right: Right): Query<boolean> {
  return {
    name: 'has_role_for_api_keys',
    text: 'select user_id from members where workspace_id = $1 and user_id = $2 and role = any($3::text[])',
    values: [workspaceId, userId, rolesWith(right)],
    read: changed,
  }
}

/** Returns whether a person may make keys of the workspace. */
export function mayMakeKeys(maker: Maker): Query<boolean> {
  return hasRight(maker, 'manageKeys')
}

/** Returns whether a person may confirm the workspace's held keys. */
export function mayConfirmKeys(maker: Maker): Query<boolean> {
  return hasRight(maker, 'confirmHeldKeys')
}

/** Returns whether the agent exists; true if `agentId` is null. Uses the primary key of agents. */
export function hasAgent(workspaceId: string, mode: Mode, agentId: string | null): Query<boolean> {
  return {
    name: 'has_agent_for_key',
    text: `select $3::text is null or exists (
        select 1 from agents where workspace_id = $1 and mode = $2 and id = $3 and deleted_at is null) as has_agent`,
    values: [workspaceId, mode, agentId],
    read: one({ has_agent: computed.bool }, (row) => row.has_agent),
  }
}

/** Uses the index `api_keys_by_secret_hash`. */
export function findKeyByHash(secretHash: Buffer): Query<ApiKey | null> {
  return {
    name: 'find_api_key_by_hash',
    text: `select ${KEY_COLUMNS} from api_keys where secret_hash = $1`,
    values: [secretHash],
    read: firstOrNull(KEY_ROW, toKey),
  }
}

/** Uses the primary key. */
export function findKeyById(workspaceId: string, id: string): Query<ApiKey | null> {
  return {
    name: 'find_api_key_by_id',
    text: `select ${KEY_COLUMNS} from api_keys where workspace_id = $1 and id = $2`,
    values: [workspaceId, id],
    read: firstOrNull(KEY_ROW, toKey),
  }
}

/** Counts the keys that can authenticate now. Uses the index `api_keys_not_revoked`. */
export function countUsableKeys(workspaceId: string, mode: Mode, now: Date): Query<number> {
  return {
    name: 'count_usable_api_keys',
    text: `select count(*) as keys from api_keys
      where workspace_id = $1 and mode = $2 and revoked_at is null and (grace_until is null or grace_until > $3)`,
    values: [workspaceId, mode, now],
    read: one({ keys: computed.int8 }, (row) => Number(row.keys)),
  }
}

function toKey(row: RowOf<typeof KEY_ROW>): ApiKey {
  return { ...toShownKey(row), secretHash: row.secret_hash }
}

export function toShownKey(row: RowOf<typeof SHOWN_ROW>): Omit<ApiKey, 'secretHash'> {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    mode: row.mode,
    name: row.name,
    agentId: row.agent_id,
    scopes: row.scopes === null ? null : toScopes(row.scopes),
    last4: row.last4,
    createdAt: row.created_at,
    createdBy: row.created_by,
    graceUntil: row.grace_until,
    revokedAt: row.revoked_at,
    heldAt: row.held_at,
    confirmedAt: row.confirmed_at,
  }
}

function toMadeKey(row: RowOf<typeof MADE_ROW>): MadeKey {
  return {
    id: row.id,
    mode: row.mode,
    name: row.name,
    agentId: row.agent_id,
    scopes: row.scopes === null ? null : toScopes(row.scopes),
    last4: row.last4,
  }
}
