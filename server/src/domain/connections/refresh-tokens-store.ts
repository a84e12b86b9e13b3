import { computed, pick } from '../../db/column.ts'
import { changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Scope } from '../../values/scope.ts'
import { CONSENT_HOLDS, TOKEN_CONNECTION_ROW, toTokenConnection, type TokenConnection } from './connections-store.ts'

const TOKEN_ROW = {
  ...TOKEN_CONNECTION_ROW,
  ...pick(tables.connections, 'client_id', 'resource'),
  is_taken: computed.bool,
  is_revoked: computed.bool,
  is_live: computed.bool,
}

/** Uses primary keys. */
export function lockConnectionOfRefreshToken(tokenHash: Buffer): Query<boolean> {
  return {
    name: 'lock_connection_of_refresh_token',
    text: `select c.id from refresh_tokens t
      join connections c on c.workspace_id = t.workspace_id and c.id = t.connection_id
      where t.token_hash = $1 for no key update of c`,
    values: [tokenHash],
    read: changed,
  }
}

/**
 * The values that a client sends together with a refresh token. `scopes` and `resource` are null if the client does not
 * send them.
 */
export interface RefreshRequest {
  readonly clientId: string
  readonly scopes: readonly Scope[] | null
  readonly resource: string | null
}

/** A refresh token with its connection, read while the connection is locked. */
export interface StoredRefreshToken extends TokenConnection {
  readonly clientId: string
  readonly resource: string | null
  readonly isTaken: boolean
  readonly isRevoked: boolean
  readonly isLive: boolean
}

/** Uses primary keys. */
export function findRefreshToken(tokenHash: Buffer, now: Date): Query<StoredRefreshToken | null> {
  return {
    name: 'find_refresh_token',
    text: `select c.workspace_id, c.id, c.scopes, c.client_id, c.resource,
        t.taken_at is not null as is_taken, c.revoked_at is not null as is_revoked,
        t.taken_at is null and t.expires_at > $2 and c.revoked_at is null
          and ${CONSENT_HOLDS} as is_live
      from refresh_tokens t join connections c on c.workspace_id = t.workspace_id and c.id = t.connection_id
      where t.token_hash = $1`,
    values: [tokenHash, now],
    read: firstOrNull(TOKEN_ROW, (row) => ({
      ...toTokenConnection(row),
      clientId: row.client_id,
      resource: row.resource,
      isTaken: row.is_taken,
      isRevoked: row.is_revoked,
      isLive: row.is_live,
    })),
  }
}

/** Uses the index `refresh_tokens_by_end`. */
export function deleteEndedRefreshTokens(endedBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_refresh_tokens',
    text: `delete from refresh_tokens where token_hash in (
        select token_hash from refresh_tokens where expires_at <= $1
        order by expires_at limit $2 for update skip locked)`,
    values: [endedBefore, rowsMax],
    read: countChanged,
  }
}
