import { gathered, type GatheredQuery } from '../../db/gathered-query.ts'
import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { findWindow } from '../../limiter/limiter-store.ts'
import type { Scope } from '../../values/scope.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { recordConnectionError } from '../connection-errors/record-connection-error.ts'
import type { Context } from '../context.ts'
import { countTokenRequests, type TokenHolder, type TokenRequest } from './access-tokens-store.ts'

export interface AuthenticatedToken extends TokenHolder {
  /**
   * The state of the connection's rate limit (D32). A request without the required scope is not counted, so this limit
   * never rejects it.
   */
  readonly rate: RateState
}

type CountedHolder = (TokenHolder & { readonly rate: RateState | null }) | null

/**
 * Concurrent authentications with the same bucket share a statement. A statement counts a token only once, so two
 * requests with the same token need two statements. But if the token gives no access, this is also the result of the
 * requests that wait. So the parallel calls of a client learn of an expired token together, and refresh it together
 * (D38a, the same time is one use).
 */
const COUNT_REQUESTS: Readonly<Record<Bucket, GatheredQuery<TokenRequest, CountedHolder>>> = {
  default: gatherCounts('default'),
  payments: gatherCounts('payments'),
}

function gatherCounts(bucket: Bucket): GatheredQuery<TokenRequest, CountedHolder> {
  return gathered({
    keyOf: ({ tokenHash }) => tokenHash.toString('latin1'),
    isShared: (holder) => holder === null,
    queryOf: (requests) => countTokenRequests(bucket, requests),
  })
}

/**
 * Finds out who sent a request, whether the token has the required scope, and whether the request is within the rate
 * limit. Takes one round trip to the database, and a second one only if the request was not counted. If the token does
 * not give access, another round trip records why (D73a).
 *
 * Returns null if the token is malformed, unknown or expired, if its connection is revoked, or if the user who
 * consented may no longer connect applications.
 */
export async function authenticateToken(
  ctx: Pick<Context, 'db' | 'deferredWrites' | 'clock'>,
  { credential, bucket, requiredScope }: { credential: string; bucket: Bucket; requiredScope: Scope | null },
): Promise<AuthenticatedToken | null> {
  if (!isSecret(SECRET_PREFIXES.accessToken, credential)) return null
  const now = ctx.clock.now()
  const hash = hashSecret(credential)
  const found = await ctx.db.gather(COUNT_REQUESTS[bucket], { tokenHash: hash, requiredScope, now })
  if (found?.hasScope !== true) {
    const error = found === null ? 'invalid_token' : 'insufficient_scope'
    await recordConnectionError(ctx, { hash, attempt: { kind: 'access_token', error } })
  }
  if (found === null) return null
  const { rateSubject } = found.connection
  const rate = found.rate ?? (await ctx.db.read(findWindow(rateSubject, bucket, now, !found.hasScope)))
  return { ...found, rate }
}
