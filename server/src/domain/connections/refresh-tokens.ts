import type { Transaction } from '../../db/transaction.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { issueTokens } from './issue-tokens.ts'
import { narrowScopes } from './narrow-scopes.ts'
import {
  findRefreshToken,
  lockConnectionOfRefreshToken,
  takeRefreshToken,
  type RefreshRequest,
  type StoredRefreshToken,
} from './refresh-tokens-store.ts'
import { revokeReplayed } from './revoke-replayed.ts'
import { REFRESH_TOKEN_REFUSED, RESOURCE_REFUSED, SCOPE_REFUSED, type TokenRefusal, type Tokens } from './tokens.ts'

/**
 * Rotates a refresh token (RFC 9700, section 4.14.2). A second use revokes the connection, without any leeway (D38): if
 * two requests use a token at once, the first succeeds and the second ends the connection for both. Requesting fewer
 * scopes only narrows the new access token. Access tokens issued before stay valid until they expire. Takes two round
 * trips.
 */
export async function refreshTokens(
  ctx: Pick<Context, 'db' | 'clock'>,
  { refreshToken, clientId, scopes, resource }: { refreshToken: string } & RefreshRequest,
): Promise<Tokens | TokenRefusal> {
  if (!isSecret(SECRET_PREFIXES.refreshToken, refreshToken)) return REFRESH_TOKEN_REFUSED
  const tokenHash = hashSecret(refreshToken)
  const request = { clientId, scopes, resource }
  const now = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const [, taken, stored] = await transaction.batch([
      lockConnectionOfRefreshToken(tokenHash),
      takeRefreshToken(tokenHash, request, now),
      findRefreshToken(tokenHash, now),
    ])
    if (stored === null) return REFRESH_TOKEN_REFUSED
    if (!taken) return await refuse(transaction, { token: stored, request, now })
    const issued = narrowScopes(stored.scopes, scopes) ?? stored.scopes
    return await issueTokens(transaction, { connection: stored, scopes: issued, now })
  })
}

async function refuse(
  transaction: Transaction,
  { token, request, now }: { token: StoredRefreshToken; request: RefreshRequest; now: Date },
): Promise<TokenRefusal> {
  if (token.clientId !== request.clientId) return REFRESH_TOKEN_REFUSED
  if (token.isTaken && !token.isRevoked) {
    await revokeReplayed(transaction, { connection: token, clientId: token.clientId, cause: 'refresh_reuse', now })
  }
  if (!token.isLive) return REFRESH_TOKEN_REFUSED
  return narrowScopes(token.scopes, request.scopes) === null ? SCOPE_REFUSED : RESOURCE_REFUSED
}
