import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { findWindow } from '../../limiter/limiter-store.ts'
import type { Scope } from '../../values/scope.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { countTokenRequest, type TokenHolder } from './access-tokens-store.ts'

export interface AuthenticatedToken extends TokenHolder {
  /**
   * The rate budget of the connection (D32). A request without the required scope is not counted, so it is always
   * within the rate.
   */
  readonly rate: RateState
}

/**
 * Finds out who sent a request, whether the token has the required scope, and whether the request is within its rate.
 * Takes one round trip to the database, and a second one only if the request was not counted.
 *
 * Returns null if the token is malformed, unknown or expired, if its connection is revoked, or if the user who
 * consented may no longer connect applications.
 */
export async function authenticateToken(
  ctx: Pick<Context, 'db' | 'clock'>,
  { credential, bucket, requiredScope }: { credential: string; bucket: Bucket; requiredScope: Scope | null },
): Promise<AuthenticatedToken | null> {
  if (!isSecret(SECRET_PREFIXES.accessToken, credential)) return null
  const now = ctx.clock.now()
  const found = await ctx.db.runRelaxed(countTokenRequest(hashSecret(credential), { bucket, requiredScope, now }))
  if (found === null) return null
  const { rateSubject } = found.connection
  const rate = found.rate ?? (await ctx.db.runRelaxed(findWindow(rateSubject, bucket, now, !found.hasScope)))
  return { ...found, rate }
}
