import { isRetryable } from '../../db/errors.ts'
import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import type { Scope } from '../../values/scope.ts'
import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { insertAccessToken } from './access-tokens-store.ts'
import { ACCESS_TOKEN_LIFETIME_SECONDS, REFRESH_TOKEN_LIFETIME_MS } from './limits.ts'
import { insertRefreshToken } from './refresh-tokens-store.ts'
import { extendConnection, type TokenConnection } from './connections-store.ts'
import { narrowScopes } from './narrow-scopes.ts'
import type { NewTokens, Tokens } from './tokens.ts'

/** Tokens that were created and are not stored yet. */
export interface CreatedTokens {
  readonly stored: NewTokens
  readonly accessToken: string
  readonly refreshToken: string
}

/** Creates an access token and a refresh token. They are valid once they are stored. */
export function createTokens(now: Date): CreatedTokens {
  const accessToken = createSecret(SECRET_PREFIXES.accessToken)
  const refreshToken = createSecret(SECRET_PREFIXES.refreshToken)
  const stored = {
    now,
    accessHash: hashSecret(accessToken),
    accessEnd: new Date(now.getTime() + ACCESS_TOKEN_LIFETIME_SECONDS * 1_000),
    refreshHash: hashSecret(refreshToken),
    refreshEnd: new Date(now.getTime() + REFRESH_TOKEN_LIFETIME_MS),
  }
  return { stored, accessToken, refreshToken }
}

/**
 * Takes a code or refresh token and issues the created tokens, in one round trip. `statement` returns the granted
 * scopes, or null if it changed nothing. Returns null if the statement changed nothing, or conflicted with another
 * transaction. The caller then repeats the work in a transaction, which finds out why.
 */
export async function issueAtOnce(
  ctx: Pick<Context, 'db'>,
  { accessToken, refreshToken }: CreatedTokens,
  { statement, wanted }: { statement: Query<Scope[] | null>; wanted: readonly Scope[] | null },
): Promise<Tokens | null> {
  const granted = await ctx.db.runDurable(statement).catch((error: unknown) => {
    // The statement has changed nothing, and the transaction is repeated if it conflicts again.
    if (isRetryable(error)) return null
    throw error
  })
  if (granted === null) return null
  const scopes = narrowScopes(granted, wanted) ?? granted
  return { kind: 'issued', accessToken, refreshToken, scopes, expiresInSeconds: ACCESS_TOKEN_LIFETIME_SECONDS }
}

/** Stores the created tokens, and commits the transaction in which the caller took a code or refresh token. */
export async function issueTokens(
  transaction: Transaction,
  { accessToken, refreshToken, stored }: CreatedTokens,
  { connection, scopes }: { connection: TokenConnection; scopes: readonly Scope[] },
): Promise<Tokens> {
  const { now, accessHash, accessEnd, refreshHash, refreshEnd } = stored
  await transaction.commit([
    insertAccessToken(accessHash, { connection, scopes, expiresAt: accessEnd }),
    insertRefreshToken(refreshHash, { connection, createdAt: now, expiresAt: refreshEnd }),
    extendConnection(connection, now, refreshEnd),
  ])
  return { kind: 'issued', accessToken, refreshToken, scopes, expiresInSeconds: ACCESS_TOKEN_LIFETIME_SECONDS }
}
