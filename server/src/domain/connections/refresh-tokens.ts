import type { Transaction } from '../../db/transaction.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { recordConnectionError } from '../connection-errors/record-connection-error.ts'
import type { Context } from '../context.ts'
import { takeRefreshTokensAndIssue, type Refresh } from './issue-at-once-store.ts'
import { createTokens, issueAtOnce, toTokens, type Issue } from './issue-tokens.ts'
import { narrowScopes } from './narrow-scopes.ts'
import {
  findRefreshToken,
  lockConnectionOfRefreshToken,
  type RefreshRequest,
  type StoredRefreshToken,
} from './refresh-tokens-store.ts'
import { revokeReplayed } from './revoke-replayed.ts'
import { REFRESH_TOKEN_REFUSED, RESOURCE_REFUSED, SCOPE_REFUSED, type TokenRefusal, type Tokens } from './tokens.ts'

/**
 * Refreshes that arrive together share a statement. A second use of a token has to come after the first one, so the two
 * never share a statement.
 */
const REFRESH_TOGETHER: Issue<Refresh> = {
  keyOf: ({ secretHash }) => secretHash.toString('latin1'),
  queryOf: takeRefreshTokensAndIssue,
}

/**
 * Rotates a refresh token: uses it up, and issues a new access token and a new refresh token (RFC 9700, section
 * 4.14.2). A second use of the old refresh token revokes the connection, without a grace period (D38). If two requests
 * use one token at the same time, the first succeeds, and the second revokes the connection for both.
 *
 * If the client requests fewer scopes, only the new access token has fewer. Access tokens that were issued earlier stay
 * valid until they expire. Takes one round trip to the database. If the refresh is refused, it takes three more, to
 * find the reason and to record it.
 */
export async function refreshTokens(
  ctx: Pick<Context, 'db' | 'clock'>,
  { refreshToken, clientId, scopes, resource }: { refreshToken: string } & RefreshRequest,
): Promise<Tokens | TokenRefusal> {
  if (!isSecret(SECRET_PREFIXES.refreshToken, refreshToken)) return REFRESH_TOKEN_REFUSED
  const tokenHash = hashSecret(refreshToken)
  const request = { clientId, scopes, resource }
  const now = ctx.clock.now()
  const created = createTokens(now)
  const item = { secretHash: tokenHash, ...request, ...created.stored }
  const tokens = await issueAtOnce(ctx, created, { statement: REFRESH_TOGETHER, item, wanted: scopes })
  if (tokens !== null) return tokens
  const outcome = await ctx.db.transaction(async (transaction) => {
    const [, [granted = null], stored] = await transaction.batch([
      lockConnectionOfRefreshToken(tokenHash),
      takeRefreshTokensAndIssue([item]),
      findRefreshToken(tokenHash, now),
    ])
    if (granted !== null) return toTokens(created, granted, scopes)
    return stored === null ? REFRESH_TOKEN_REFUSED : await refuse(transaction, { token: stored, request, now })
  })
  if (outcome.kind === 'refused') {
    const { error } = outcome
    await recordConnectionError(ctx, { hash: tokenHash, attempt: { kind: 'refresh_token', error, clientId } })
  }
  return outcome
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
