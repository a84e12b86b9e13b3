import { computed, nullable, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, one, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { lastCountOf, readLastCount } from '../../limiter/limiter-store.ts'
import type { RowKey } from '../change-all-rows.ts'
import type { Mode } from '../../values/mode.ts'
import { toScopes } from '../../values/scope.ts'
import { rolesWith } from '../../values/role.ts'
import { redirectHostsOf } from './client.ts'
import type { Connection, ConnectionSummary, RevocationCause } from './connection.ts'
import { CONNECTIONS_LISTED_MAX } from './limits.ts'

/*
 * The row of a connection is also the lock for its code and tokens. A transaction that takes a code or a refresh token
 * locks this row before it reads the code or token. A revocation updates the same row, so it commits either before that
 * read or after the end of that transaction. Every query for a code or token joins the row, so it sees the revocation.
 */

const { connections, oauth_clients: clients, users } = tables

/** The roles of people who may connect applications, as a list in SQL. */
const CONSENTERS = rolesWith('manageConnections')
  .map((role) => `'${role}'`)
  .join(', ')

/**
 * An SQL condition on the row `c` of `connections`: the user who consented still has a role that may connect
 * applications, and has not left the workspace since the consent. `offset 0` makes the database search the members once per connection. Without
 * it, a query plan that was made while the tables were small could scan all members. The two comparisons of rows mean
 * equality. They are written so that the search can use no index other than the primary key.
 */
export const CONSENT_HOLDS = `exists (
        select 1 from members m where (m.workspace_id, m.user_id) >= (c.workspace_id, c.user_id)
          and (m.workspace_id, m.user_id) <= (c.workspace_id, c.user_id)
          and m.created_at = c.member_since and m.role in (${CONSENTERS}) offset 0)`

/** The connection that a code or token belongs to. */
export type TokenConnection = Pick<Connection, 'workspaceId' | 'id' | 'scopes'>

export const TOKEN_CONNECTION_ROW = pick(connections, 'workspace_id', 'id', 'scopes')

export function toTokenConnection(row: RowOf<typeof TOKEN_CONNECTION_ROW>): TokenConnection {
  return { workspaceId: row.workspace_id, id: row.id, scopes: toScopes(row.scopes) }
}

/** Returns whether a user has ever belonged to a workspace. Uses the primary key. */
export function hasBelonged(userId: string): Query<boolean> {
  return {
    name: 'has_user_belonged',
    text: 'select id from users where id = $1 and joined_at is not null',
    values: [userId],
    read: changed,
  }
}

/**
 * Returns whether the agent exists, and since when the user has been a member. `memberSince` is null unless the user is
 * an owner or admin, because only they may connect applications. Uses primary keys.
 */
export function findConsentParties({
  workspaceId,
  mode,
  agentId,
  userId,
}: {
  workspaceId: string
  mode: Mode
  agentId: string
  userId: string
}): Query<{ agentExists: boolean; memberSince: Date | null }> {
  return {
    name: 'find_consent_parties',
    text: `select exists (
          select 1 from agents where workspace_id = $1 and mode = $2 and id = $3 and deleted_at is null) as agent_exists,
        (select created_at from members where workspace_id = $1 and user_id = $4 and role in (${CONSENTERS})) as member_since`,
    values: [workspaceId, mode, agentId, userId],
    read: one({ agent_exists: computed.bool, member_since: nullable(computed.timestamptz) }, (row) => ({
      agentExists: row.agent_exists,
      memberSince: row.member_since,
    })),
  }
}

/**
 * Inserts a connection. `memberSince` is when the consenting user's membership began; it identifies that membership.
 */
export function insertConnection(connection: Connection, memberSince: Date): Query<boolean> {
  return {
    name: 'insert_connection',
    text: `insert into connections (workspace_id, id, mode, agent_id, user_id, member_since, client_id, scopes, resource,
        rate_subject, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      connection.workspaceId,
      connection.id,
      connection.mode,
      connection.agentId,
      connection.userId,
      memberSince,
      connection.clientId,
      connection.scopes,
      connection.resource,
      connection.rateSubject,
      connection.createdAt,
      connection.expiresAt,
    ],
    read: changed,
  }
}

const LISTED_ROW = {
  ...pick(connections, 'id', 'client_id'),
  ...pick(clients, 'kind', 'name', 'redirect_uris'),
  ...pick(connections, 'mode', 'agent_id', 'scopes', 'user_id'),
  user_name: users.name,
  ...pick(connections, 'created_at', 'expires_at'),
  last_count: nullable(computed.int8),
}

/**
 * Lists connections whose code was exchanged and that are neither revoked nor expired, newest first. If `mode` is null,
 * lists the connections of both modes. If `userId` is given, lists only the connections of this person. Uses the primary
 * key, or `connections_of_agent` if most connections are revoked.
 */
export function listConnectionRows({
  workspaceId,
  mode,
  userId = null,
  now,
}: {
  workspaceId: string
  mode: Mode | null
  userId?: string | null
  now: Date
}): Query<ConnectionSummary[]> {
  return {
    name: 'list_connections',
    text: `select c.id, c.client_id, o.kind, o.name, o.redirect_uris, c.mode, c.agent_id, c.scopes, c.user_id,
        u.name as user_name, c.created_at, c.expires_at, ${lastCountOf('c.rate_subject')} as last_count
      from (
        select workspace_id, id, client_id, mode, agent_id, scopes, user_id, created_at, expires_at, rate_subject
        from connections live
        where workspace_id = $1 and revoked_at is null and connected_at is not null and expires_at > $2
          and ($4::text is null or mode = $4) and ($5::text is null or user_id = $5)
          and exists (
            select 1 from members m
            where m.workspace_id = live.workspace_id and m.user_id = live.user_id and m.created_at = live.member_since offset 0)
        order by id desc limit $3
      ) c
      join oauth_clients o on o.id = c.client_id
      join users u on u.id = c.user_id
      order by c.id desc`,
    values: [workspaceId, now, CONNECTIONS_LISTED_MAX, mode, userId],
    read: all(LISTED_ROW, (row) => ({
      id: row.id,
      client: {
        id: row.client_id,
        kind: row.kind,
        name: row.name,
        redirectHosts: redirectHostsOf({ redirectUris: row.redirect_uris }),
      },
      mode: row.mode,
      agentId: row.agent_id,
      scopes: toScopes(row.scopes),
      userId: row.user_id,
      userName: row.user_name,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      lastUsedAt: readLastCount(row.last_count),
    })),
  }
}

export function findConnectionId(workspaceId: string, id: string): Query<string | null> {
  return {
    name: 'find_connection_id',
    text: 'select id from connections where workspace_id = $1 and id = $2',
    values: [workspaceId, id],
    read: firstOrNull(pick(connections, 'id'), (row) => row.id),
  }
}

/**
 * Deletes connections whose code expired before this time, was never exchanged, and is already deleted. Such a
 * connection never had a token. Returns the `rate_subject` of each deleted connection, by which the caller deletes its
 * rate counters. Uses the index `connections_never_exchanged`.
 */
export function deleteUnusedConnections(endedBefore: Date, rowsMax: number): Query<Buffer[]> {
  return {
    name: 'delete_unused_connections',
    text: `delete from connections where (workspace_id, id) in (
        select workspace_id, id from connections c where connected_at is null and expires_at <= $1
          and not exists (
            select 1 from authorization_codes k where k.workspace_id = c.workspace_id and k.connection_id = c.id)
        order by expires_at limit $2 for update skip locked)
      returning rate_subject`,
    values: [endedBefore, rowsMax],
    read: all(pick(connections, 'rate_subject'), (row) => row.rate_subject),
  }
}

/**
 * Revokes a connection, so that none of its tokens is accepted any more. Returns false if it was revoked before, and
 * keeps the first cause.
 */
export function markConnectionRevoked(
  { workspaceId, id }: Pick<Connection, 'workspaceId' | 'id'>,
  cause: RevocationCause,
  now: Date,
): Query<boolean> {
  return {
    name: 'mark_connection_revoked',
    text: `update connections set revoked_at = $3, revoked_because = $4
      where workspace_id = $1 and id = $2 and revoked_at is null`,
    values: [workspaceId, id, now, cause],
    read: changed,
  }
}

/**
 * Revokes every connection of an agent, including connections whose code was not exchanged yet. Returns the ids of the
 * connections that had not expired. Uses the index `connections_of_agent`.
 */
export function revokeByAgent(
  { workspaceId, mode, agentId }: Pick<Connection, 'workspaceId' | 'mode' | 'agentId'>,
  now: Date,
): Query<string[]> {
  return {
    name: 'revoke_by_agent',
    text: `update connections set revoked_at = $4, revoked_because = 'user'
      where workspace_id = $1 and mode = $2 and agent_id = $3 and revoked_at is null
      returning id, expires_at > $4 as is_alive`,
    values: [workspaceId, mode, agentId, now],
    read: rowsOf({ id: connections.id, is_alive: computed.bool }, (rows) =>
      rows.filter((row) => row.is_alive).map((row) => row.id),
    ),
  }
}

/**
 * Revokes connections of all workspaces that are not revoked yet, at most `rowsMax` after the key `after`, and returns
 * them in order. Includes connections whose code was not exchanged yet, and expired ones. Uses the primary key.
 */
export function revokeConnectionsAfter(
  after: RowKey,
  rowsMax: number,
  now: Date,
): Query<(RowKey & { readonly isAlive: boolean })[]> {
  return {
    name: 'revoke_connections_after',
    text: `with revoked as (
        update connections set revoked_at = $4, revoked_because = 'restore'
        where (workspace_id, id) in (
          select workspace_id, id from connections where (workspace_id, id) > ($1, $2) and revoked_at is null
          order by workspace_id, id limit $3)
        returning workspace_id, id, expires_at > $4 as is_alive
      )
      select workspace_id, id, is_alive from revoked order by workspace_id, id`,
    values: [after.workspaceId, after.id, rowsMax, now],
    read: all({ ...pick(connections, 'workspace_id', 'id'), is_alive: computed.bool }, (row) => ({
      workspaceId: row.workspace_id,
      id: row.id,
      isAlive: row.is_alive,
    })),
  }
}

export type RevokedConnection = Pick<Connection, 'workspaceId' | 'id' | 'clientId'>

/**
 * Revokes the connection of an access token. Returns null if the token is unknown, the connection is revoked already,
 * or it belongs to a client other than `clientId`. If `clientId` is null, every client matches.
 */
export function revokeByAccessToken(
  tokenHash: Buffer,
  clientId: string | null,
  now: Date,
): Query<RevokedConnection | null> {
  return {
    name: 'revoke_by_access_token',
    text: revokeBy('access_tokens'),
    values: [tokenHash, clientId, now],
    read: firstOrNull(REVOKED_ROW, toRevokedConnection),
  }
}

/** Does the same as `revokeByAccessToken` for a refresh token, even one that was used already. */
export function revokeByRefreshToken(
  tokenHash: Buffer,
  clientId: string | null,
  now: Date,
): Query<RevokedConnection | null> {
  return {
    name: 'revoke_by_refresh_token',
    text: revokeBy('refresh_tokens'),
    values: [tokenHash, clientId, now],
    read: firstOrNull(REVOKED_ROW, toRevokedConnection),
  }
}

function revokeBy(table: 'access_tokens' | 'refresh_tokens'): string {
  return `update connections c set revoked_at = $3, revoked_because = 'client' from ${table} t
    where t.token_hash = $1 and c.workspace_id = t.workspace_id and c.id = t.connection_id
      and ($2::text is null or c.client_id = $2) and c.revoked_at is null
    returning c.workspace_id, c.id, c.client_id`
}

const REVOKED_ROW = pick(connections, 'workspace_id', 'id', 'client_id')

function toRevokedConnection(row: RowOf<typeof REVOKED_ROW>): RevokedConnection {
  return { workspaceId: row.workspace_id, id: row.id, clientId: row.client_id }
}
