import { computed, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'
import type { ConnectionError, ConnectionErrorCode } from './connection-error.ts'
import type { Attempt, Presented } from './decide-connection-error.ts'

const {
  access_tokens: accessTokens,
  authorization_codes: codes,
  connections,
  oauth_clients: clients,
  refresh_tokens: refreshTokens,
  users,
} = tables

const CONNECTION_ROW = {
  ...pick(connections, 'workspace_id', 'id', 'mode', 'agent_id', 'user_id', 'client_id', 'revoked_because'),
  recorded_codes: computed.textArray,
}

/** A presented code or token with its connection. */
export interface PresentedRow extends Presented {
  readonly workspaceId: string
  readonly connectionId: string
  readonly mode: Mode
  readonly agentId: string
  readonly userId: string
  /** The errors of the connection that were recorded a short time ago. */
  readonly recordedCodes: readonly string[]
}

/** The columns of `CONNECTION_ROW`. `$2` is the time since which recorded errors are read. */
const CONNECTION_COLUMNS = `c.workspace_id, c.id, c.mode, c.agent_id, c.user_id, c.client_id, c.revoked_because,
        array(select e.code from connection_errors e
          where e.workspace_id = c.workspace_id and e.connection_id = c.id and e.happened_at > $2) as recorded_codes`
const JOIN_CONNECTION = 'join connections c on c.workspace_id = t.workspace_id and c.id = t.connection_id'

/** Returns the code or token that a client presented, or null if it is unknown. Uses primary keys. */
export function findPresented(kind: Attempt['kind'], hash: Buffer, recordedSince: Date): Query<PresentedRow | null> {
  if (kind === 'code') return findPresentedCode(hash, recordedSince)
  return kind === 'refresh_token'
    ? findPresentedRefreshToken(hash, recordedSince)
    : findPresentedAccessToken(hash, recordedSince)
}

function findPresentedCode(codeHash: Buffer, recordedSince: Date): Query<PresentedRow | null> {
  const own = pick(codes, 'expires_at', 'redirect_uri', 'code_challenge', 'failures')
  return {
    name: 'find_presented_code',
    text: `select ${CONNECTION_COLUMNS}, t.expires_at, t.redirect_uri, t.code_challenge, t.failures
      from authorization_codes t ${JOIN_CONNECTION} where t.code_hash = $1`,
    values: [codeHash, recordedSince],
    read: firstOrNull({ ...CONNECTION_ROW, ...own }, (row) => ({
      ...toPresented(row),
      expiresAt: row.expires_at,
      redirectUri: row.redirect_uri,
      codeChallenge: row.code_challenge,
      failures: row.failures,
    })),
  }
}

function findPresentedRefreshToken(tokenHash: Buffer, recordedSince: Date): Query<PresentedRow | null> {
  return {
    name: 'find_presented_refresh_token',
    text: `select ${CONNECTION_COLUMNS}, t.expires_at
      from refresh_tokens t ${JOIN_CONNECTION} where t.token_hash = $1`,
    values: [tokenHash, recordedSince],
    read: firstOrNull({ ...CONNECTION_ROW, expires_at: refreshTokens.expires_at }, (row) => ({
      ...toPresented(row),
      expiresAt: row.expires_at,
    })),
  }
}

function findPresentedAccessToken(tokenHash: Buffer, recordedSince: Date): Query<PresentedRow | null> {
  return {
    name: 'find_presented_access_token',
    text: `select ${CONNECTION_COLUMNS}, t.expires_at
      from access_tokens t ${JOIN_CONNECTION} where t.token_hash = $1`,
    values: [tokenHash, recordedSince],
    read: firstOrNull({ ...CONNECTION_ROW, expires_at: accessTokens.expires_at }, (row) => ({
      ...toPresented(row),
      expiresAt: row.expires_at,
    })),
  }
}

function toPresented(row: RowOf<typeof CONNECTION_ROW>): Omit<PresentedRow, 'expiresAt'> {
  return {
    workspaceId: row.workspace_id,
    connectionId: row.id,
    mode: row.mode,
    agentId: row.agent_id,
    userId: row.user_id,
    clientId: row.client_id,
    revokedBecause: row.revoked_because,
    redirectUri: null,
    codeChallenge: null,
    failures: 0,
    recordedCodes: row.recorded_codes,
  }
}

/** Inserts an error of a connection, or updates its time if it has happened before. Uses the primary key. */
export function upsertConnectionError(of: PresentedRow, code: ConnectionErrorCode, happenedAt: Date): Query<boolean> {
  return {
    name: 'upsert_connection_error',
    text: `insert into connection_errors (workspace_id, connection_id, code, mode, agent_id, user_id, client_id, happened_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (workspace_id, connection_id, code) do update set happened_at = excluded.happened_at
        where connection_errors.happened_at < excluded.happened_at`,
    values: [of.workspaceId, of.connectionId, code, of.mode, of.agentId, of.userId, of.clientId, happenedAt],
    read: changed,
  }
}

const LISTED_ROW = {
  connection_id: computed.text,
  code: narrow<ConnectionErrorCode>(computed.text),
  mode: narrow<Mode>(computed.text),
  agent_id: computed.text,
  happened_at: computed.timestamptz,
  ...pick(clients, 'id', 'kind', 'name', 'redirect_uris'),
  user_name: users.name,
}

/**
 * Lists the errors of a workspace's connections in one mode, newest first. A code that expired without being exchanged
 * is an error too, if its connection has no other error. Leaves out errors from before the user connected the same
 * client again. A code that was never exchanged is left out if it was created before that, even if it expired later.
 * Uses the primary keys, `connections_not_exchanged`, and `connections_of_client_and_user`. The comparison of three
 * columns keeps the planner from reading the connections of all workspaces by an index on `expires_at` alone.
 */
export function listErrorRows({
  workspaceId,
  mode,
  now,
  limit,
}: {
  workspaceId: string
  mode: Mode
  now: Date
  limit: number
}): Query<ConnectionError[]> {
  return {
    name: 'list_connection_errors',
    text: `with failed as (
        select connection_id, code, mode, agent_id, user_id, client_id, happened_at, happened_at as since
        from connection_errors where workspace_id = $1 and mode = $2
        union all
        select c.id, 'code_not_exchanged', c.mode, c.agent_id, c.user_id, c.client_id, c.expires_at, c.created_at
        from connections c
        where c.workspace_id = $1 and c.mode = $2 and c.connected_at is null and c.revoked_at is null
          and (c.workspace_id, c.mode, c.expires_at) <= ($1, $2, $3)
          and not exists (
            select 1 from connection_errors e where e.workspace_id = c.workspace_id and e.connection_id = c.id)
      )
      select f.connection_id, f.code, f.mode, f.agent_id, f.happened_at, o.id, o.kind, o.name, o.redirect_uris, u.name as user_name
      from failed f
      join oauth_clients o on o.id = f.client_id
      join users u on u.id = f.user_id
      where not exists (
        select 1 from connections later
        where later.workspace_id = $1 and later.mode = $2 and later.client_id = f.client_id
          and later.user_id = f.user_id and later.connected_at > f.since)
      order by f.happened_at desc, f.connection_id desc limit $4`,
    values: [workspaceId, mode, now, limit],
    read: all(LISTED_ROW, toListed),
  }
}

function toListed(row: RowOf<typeof LISTED_ROW>): ConnectionError {
  return {
    connectionId: row.connection_id,
    client: { id: row.id, kind: row.kind, name: row.name, redirectUris: row.redirect_uris },
    mode: row.mode,
    agentId: row.agent_id,
    userName: row.user_name,
    code: row.code,
    happenedAt: row.happened_at,
  }
}

/** Deletes errors that last happened before this time. Uses the index `connection_errors_by_time`. */
export function deleteOldErrors(happenedBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_old_connection_errors',
    text: `delete from connection_errors where (workspace_id, connection_id, code) in (
        select workspace_id, connection_id, code from connection_errors where happened_at <= $1
        order by happened_at limit $2 for update skip locked)`,
    values: [happenedBefore, rowsMax],
    read: countChanged,
  }
}
