import { computed, pick } from '../../db/column.ts'
import { changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { Connection } from './connection.ts'
import { CODE_FAILURES_MAX } from './limits.ts'
import { CONSENT_HOLDS, TOKEN_CONNECTION_ROW, toTokenConnection, type TokenConnection } from './connections-store.ts'

const CODE_ROW = {
  ...TOKEN_CONNECTION_ROW,
  client_id: tables.connections.client_id,
  ...pick(tables.authorization_codes, 'redirect_uri', 'code_challenge'),
  is_taken: computed.bool,
  is_revoked: computed.bool,
  is_live: computed.bool,
}

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
    text: `insert into authorization_codes (code_hash, workspace_id, connection_id, redirect_uri, code_challenge, expires_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [codeHash, connection.workspaceId, connection.id, redirectUri, codeChallenge, connection.expiresAt],
    read: changed,
  }
}

/** Uses primary keys. */
export function lockConnectionOfCode(codeHash: Buffer): Query<boolean> {
  return {
    name: 'lock_connection_of_code',
    text: `select c.id from authorization_codes k
      join connections c on c.workspace_id = k.workspace_id and c.id = k.connection_id
      where k.code_hash = $1 for no key update of c`,
    values: [codeHash],
    read: changed,
  }
}

/** The values that a client sends together with a code. */
export interface CodeProof {
  readonly clientId: string
  readonly redirectUri: string
  /** The challenge computed from the sent code verifier (RFC 7636, section 4.6). */
  readonly codeChallenge: string
  readonly resource: string | null
}

/** A code with its connection, read while the connection is locked. */
export interface StoredCode extends TokenConnection, Omit<CodeProof, 'resource'> {
  readonly isTaken: boolean
  readonly isRevoked: boolean
  /**
   * Whether the code could be taken now. It must be unused and unexpired, without too many failures. Its connection
   * must not be revoked, and the user who consented must still be allowed to connect applications.
   */
  readonly isLive: boolean
}

/** Uses primary keys. */
export function findCode(codeHash: Buffer, now: Date): Query<StoredCode | null> {
  return {
    name: 'find_authorization_code',
    text: `select c.workspace_id, c.id, c.scopes, c.client_id, k.redirect_uri, k.code_challenge,
        k.taken_at is not null as is_taken, c.revoked_at is not null as is_revoked,
        k.taken_at is null and k.expires_at > $2 and k.failures < $3 and c.revoked_at is null
          and ${CONSENT_HOLDS} as is_live
      from authorization_codes k join connections c on c.workspace_id = k.workspace_id and c.id = k.connection_id
      where k.code_hash = $1`,
    values: [codeHash, now, CODE_FAILURES_MAX],
    read: firstOrNull(CODE_ROW, (row) => ({
      ...toTokenConnection(row),
      clientId: row.client_id,
      redirectUri: row.redirect_uri,
      codeChallenge: row.code_challenge,
      isTaken: row.is_taken,
      isRevoked: row.is_revoked,
      isLive: row.is_live,
    })),
  }
}

/**
 * Counts an exchange with a wrong verifier, client or redirect URI. After `CODE_FAILURES_MAX` of them, the code no
 * longer works.
 */
export function countCodeFailure(codeHash: Buffer): Query<boolean> {
  return {
    name: 'count_code_failure',
    text: `update authorization_codes set failures = failures + 1
      where code_hash = $1 and taken_at is null and failures < $2`,
    values: [codeHash, CODE_FAILURES_MAX],
    read: changed,
  }
}

/** Uses the index `authorization_codes_by_end`. */
export function deleteEndedCodes(endedBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_authorization_codes',
    text: `delete from authorization_codes where code_hash in (
        select code_hash from authorization_codes where expires_at <= $1
        order by expires_at limit $2 for update skip locked)`,
    values: [endedBefore, rowsMax],
    read: countChanged,
  }
}
