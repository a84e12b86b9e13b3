import type { Transaction } from '../../db/transaction.ts'
import type { Scope } from '../../values/scope.ts'
import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { insertAccessToken } from './access-tokens-store.ts'
import { ACCESS_TOKEN_LIFETIME_SECONDS, REFRESH_TOKEN_LIFETIME_MS } from './limits.ts'
import { insertRefreshToken } from './refresh-tokens-store.ts'
import { extendConnection, type TokenConnection } from './connections-store.ts'
import type { Tokens } from './tokens.ts'

/**
 * Issues an access token and a refresh token, and commits the transaction in which the caller took a code or refresh
 * token.
 */
export async function issueTokens(
  transaction: Transaction,
  { connection, scopes, now }: { connection: TokenConnection; scopes: readonly Scope[]; now: Date },
): Promise<Tokens> {
  const accessToken = createSecret(SECRET_PREFIXES.accessToken)
  const refreshToken = createSecret(SECRET_PREFIXES.refreshToken)
  const accessEnd = new Date(now.getTime() + ACCESS_TOKEN_LIFETIME_SECONDS * 1_000)
  const refreshEnd = new Date(now.getTime() + REFRESH_TOKEN_LIFETIME_MS)
  await transaction.commit([
    insertAccessToken(hashSecret(accessToken), { connection, scopes, expiresAt: accessEnd }),
    insertRefreshToken(hashSecret(refreshToken), { connection, createdAt: now, expiresAt: refreshEnd }),
    extendConnection(connection, now, refreshEnd),
  ])
  return { kind: 'issued', accessToken, refreshToken, scopes, expiresInSeconds: ACCESS_TOKEN_LIFETIME_SECONDS }
}
