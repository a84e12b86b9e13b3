import { changed, firstOrNull, type Query } from '../../db/query.ts'
import type { Scope } from '../../values/scope.ts'
import { CONSENT_HOLDS, toFamily, type Family } from './connections-store.ts'

export function insertRefreshToken(
  tokenHash: Buffer,
  { family, createdAt, expiresAt }: { family: Family; createdAt: Date; expiresAt: Date },
): Query<boolean> {
  return {
    name: 'insert_refresh_token',
    text: `insert into refresh_tokens (token_hash, account_id, connection_id, created_at, expires_at)
      values ($1, $2, $3, $4, $5)`,
    values: [tokenHash, family.accountId, family.id, createdAt, expiresAt],
    read: changed,
  }
}

/** By primary keys. */
export function lockFamilyOfRefreshToken(tokenHash: Buffer): Query<boolean> {
  return {
    name: 'lock_family_of_refresh_token',
    text: `select c.id from refresh_tokens t
      join connections c on c.account_id = t.account_id and c.id = t.connection_id
      where t.token_hash = $1 for no key update of c`,
    values: [tokenHash],
    read: changed,
  }
}

/** What a client shows of itself, and asks for, with a refresh token. */
export interface RefreshRequest {
  readonly clientId: string
  readonly scopes: readonly Scope[] | null
  readonly resource: string | null
}

/**
 * Takes a refresh token, once; not for a request that asks for what was not granted. By primary keys: what is asked of
 * the connection stands in a scalar, so that no plan finds it by anything else.
 */
export function takeRefreshToken(tokenHash: Buffer, request: RefreshRequest, now: Date): Query<boolean> {
  return {
    name: 'take_refresh_token',
    text: `update refresh_tokens t set taken_at = $2
      where t.token_hash = $1 and t.taken_at is null and t.expires_at > $2
        and (select c.client_id = $3 and c.revoked_at is null
            and ($4::text[] is null or (cardinality($4) > 0 and c.scopes @> $4))
            and ($5::text is null or c.resource is null or c.resource = $5) and ${CONSENT_HOLDS}
          from connections c where c.account_id = t.account_id and c.id = t.connection_id)`,
    values: [tokenHash, now, request.clientId, request.scopes, request.resource],
    read: changed,
  }
}

/** A refresh token with its family, as it stands under the family's lock. */
export interface StoredRefreshToken extends Family {
  readonly clientId: string
  readonly resource: string | null
  readonly isTaken: boolean
  readonly isRevoked: boolean
  readonly isLive: boolean
}

/** By primary keys. */
export function findRefreshToken(tokenHash: Buffer, now: Date): Query<StoredRefreshToken | null> {
  return {
    name: 'find_refresh_token',
    text: `select c.account_id, c.id, c.scopes, c.client_id, c.resource,
        t.taken_at is not null as is_taken, c.revoked_at is not null as is_revoked,
        t.taken_at is null and t.expires_at > $2 and c.revoked_at is null
          and ${CONSENT_HOLDS} as is_live
      from refresh_tokens t join connections c on c.account_id = t.account_id and c.id = t.connection_id
      where t.token_hash = $1`,
    values: [tokenHash, now],
    read: firstOrNull((row) => ({
      ...toFamily(row),
      clientId: row['client_id'],
      resource: row['resource'],
      isTaken: row['is_taken'],
      isRevoked: row['is_revoked'],
      isLive: row['is_live'],
    })),
  }
}

/** By `refresh_tokens_by_end`. */
export function deleteEndedRefreshTokens(endedBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_refresh_tokens',
    text: `delete from refresh_tokens where token_hash in (
        select token_hash from refresh_tokens where expires_at <= $1
        order by expires_at limit $2 for update skip locked)`,
    values: [endedBefore, rowsMax],
    read: (_rows, count) => count,
  }
}
