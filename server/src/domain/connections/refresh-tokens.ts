import { gathered } from '../../db/gathered-query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { waitAtLeast } from '../../lib/wait-at-least.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { recordConnectionError } from '../connection-errors/record-connection-error.ts'
import type { Context } from '../context.ts'
import type { GrantedTokens } from './issue-at-once-store.ts'
import { deriveTokens, issueAtOnce, toTokens } from './issue-tokens.ts'
import { narrowScopes } from './narrow-scopes.ts'
import {
  findRefreshToken,
  lockConnectionOfRefreshToken,
  type RefreshRequest,
  type StoredRefreshToken,
} from './refresh-tokens-store.ts'
import { revokeReplayed } from './revoke-replayed.ts'
import { takeRefreshTokensAndIssue, type Refresh } from './take-refresh-tokens-store.ts'
import { REFRESH_TOKEN_REFUSED, RESOURCE_REFUSED, SCOPE_REFUSED, type TokenRefusal, type Tokens } from './tokens.ts'

/** Refreshes that arrive together share a statement, also if they have the same refresh token. */
const REFRESH_TOGETHER = gathered({ isDurable: true, keyOf: () => null, queryOf: takeRefreshTokensAndIssue })

/**
 * Rotates a refresh token: uses it up, and issues a new access token and a new refresh token (RFC 9700, section
 * 4.14.2). A second use of the old refresh token revokes the connection (D38).
 *
 * Many clients refresh once for each of their parallel calls. So all requests that send the same within `SAME_USE_MS`
 * are one use, and get the same tokens, from any process (D38a). The tokens are held back for that time. So a request
 * that a client sends after it has received them is always a second use.
 *
 * If the client requests fewer scopes, only the new access token has fewer. Access tokens that were issued earlier stay
 * valid until they expire. Takes one round trip to the database. If the connection is locked, it takes two more. If the
 * refresh is refused, it takes three more, to find the reason and to record it.
 */
export async function refreshTokens(
  ctx: Pick<Context, 'db' | 'deferredWrites' | 'clock' | 'cell' | 'successorKey'>,
  {
    refreshToken,
    arrivedAtMs,
    clientId,
    scopes,
    resource,
  }: { refreshToken: string; arrivedAtMs: number } & RefreshRequest,
): Promise<Tokens | TokenRefusal> {
  if (!isSecret(SECRET_PREFIXES.refreshToken, refreshToken)) return REFRESH_TOKEN_REFUSED
  const tokenHash = hashSecret(refreshToken)
  const request = { clientId, scopes, resource }
  const now = ctx.clock.now()
  const key = await ctx.successorKey.read()
  const created = deriveTokens(now, { key, cell: ctx.cell, refreshToken, request })
  const item = { secretHash: tokenHash, arrivedAtMs, ...request, ...created.stored }
  const outcome = (await issueAtOnce(ctx, REFRESH_TOGETHER, item)) ?? (await refreshAlone(ctx, item))
  if ('error' in outcome) {
    const { error } = outcome
    await recordConnectionError(ctx, { hash: tokenHash, attempt: { kind: 'refresh_token', error, clientId } })
    return outcome
  }
  await waitAtLeast(outcome.holdMs)
  return toTokens(created, outcome, scopes)
}

/** Waits until the connection is not locked, and refreshes then, or finds out why the refresh is refused. */
async function refreshAlone(ctx: Pick<Context, 'db'>, refresh: Refresh): Promise<GrantedTokens | TokenRefusal> {
  const { secretHash, now } = refresh
  return await ctx.db.transaction(async (transaction) => {
    const [, [granted = null], stored] = await transaction.batch([
      lockConnectionOfRefreshToken(secretHash),
      takeRefreshTokensAndIssue([refresh]),
      findRefreshToken(secretHash, now),
    ])
    if (granted !== null) return granted
    return stored === null ? REFRESH_TOKEN_REFUSED : await refuse(transaction, { token: stored, request: refresh, now })
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
