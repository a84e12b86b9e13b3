import { changed, firstOrNull, type Query } from '../../db/query.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { Connection } from './connection.ts'
import { CODE_FAILURES_MAX } from './limits.ts'
import { CONSENT_HOLDS, toFamily, type Family } from './connections-store.ts'

export function insertCode(
  codeHash: Buffer,
  {
    connection,
    redirectUri,
    codeChallenge,
  }: { connection: Connection } & Pick<AuthorizationRequest, 'redirectUri' | 'codeChallenge'>,
): Query<boolean> {
  return {
    name: 'insert_authorization_code',
    text: `insert into authorization_codes (code_hash, account_id, connection_id, redirect_uri, code_challenge, expires_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [codeHash, connection.accountId, connection.id, redirectUri, codeChallenge, connection.expiresAt],
    read: changed,
  }
}

/** By primary keys. */
export function lockFamilyOfCode(codeHash: Buffer): Query<boolean> {
  return {
    name: 'lock_family_of_code',
    text: `select c.id from authorization_codes k
      join connections c on c.account_id = k.account_id and c.id = k.connection_id
      where k.code_hash = $1 for no key update of c`,
    values: [codeHash],
    read: changed,
  }
}

/** What a client shows of itself with a code. */
export interface CodeProof {
  readonly clientId: string
  readonly redirectUri: string
  /** Computed from the verifier (RFC 7636, section 4.6). */
  readonly codeChallenge: string
  readonly resource: string | null
}

/**
 * Takes a code, once: only with all that it is bound to (D38), and while its connection may come to life. By primary
 * keys: what is asked of the connection stands in a scalar, so that no plan finds it by anything else.
 */
export function takeCode(codeHash: Buffer, proof: CodeProof, now: Date): Query<boolean> {
  return {
    name: 'take_authorization_code',
    text: `update authorization_codes k set taken_at = $2
      where k.code_hash = $1 and k.taken_at is null and k.expires_at > $2 and k.failures < $3
        and k.redirect_uri = $5 and k.code_challenge = $6
        and (select c.client_id = $4 and c.revoked_at is null
            and ($7::text is null or c.resource is null or c.resource = $7) and ${CONSENT_HOLDS}
          from connections c where c.account_id = k.account_id and c.id = k.connection_id)`,
    values: [codeHash, now, CODE_FAILURES_MAX, proof.clientId, proof.redirectUri, proof.codeChallenge, proof.resource],
    read: changed,
  }
}

/** A code with its family, as it stands under the family's lock. */
export interface StoredCode extends Family, Omit<CodeProof, 'resource'> {
  readonly isTaken: boolean
  readonly isRevoked: boolean
  /** Neither taken nor ended, and its connection may come to life. */
  readonly isLive: boolean
}

/** By primary keys. */
export function findCode(codeHash: Buffer, now: Date): Query<StoredCode | null> {
  return {
    name: 'find_authorization_code',
    text: `select c.account_id, c.id, c.scopes, c.client_id, k.redirect_uri, k.code_challenge,
        k.taken_at is not null as is_taken, c.revoked_at is not null as is_revoked,
        k.taken_at is null and k.expires_at > $2 and k.failures < $3 and c.revoked_at is null
          and ${CONSENT_HOLDS} as is_live
      from authorization_codes k join connections c on c.account_id = k.account_id and c.id = k.connection_id
      where k.code_hash = $1`,
    values: [codeHash, now, CODE_FAILURES_MAX],
    read: firstOrNull((row) => ({
      ...toFamily(row),
      clientId: row['client_id'],
      redirectUri: row['redirect_uri'],
      codeChallenge: row['code_challenge'],
      isTaken: row['is_taken'],
      isRevoked: row['is_revoked'],
      isLive: row['is_live'],
    })),
  }
}

/** Counts a wrong verifier, client or redirect URI; the last one ends the code. */
export function countCodeFailure(codeHash: Buffer): Query<boolean> {
  return {
    name: 'count_code_failure',
    text: `update authorization_codes set failures = failures + 1
      where code_hash = $1 and taken_at is null and failures < $2`,
    values: [codeHash, CODE_FAILURES_MAX],
    read: changed,
  }
}

/** By `authorization_codes_by_end`. */
export function deleteEndedCodes(endedBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_authorization_codes',
    text: `delete from authorization_codes where code_hash in (
        select code_hash from authorization_codes where expires_at <= $1
        order by expires_at limit $2 for update skip locked)`,
    values: [endedBefore, rowsMax],
    read: (_rows, count) => count,
  }
}
