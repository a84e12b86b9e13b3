import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { findWindow } from '../../limiter/limiter-store.ts'
import type { Scope } from '../../values/scope.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { countTokenRequest, type TokenHolder } from './access-tokens-store.ts'

export interface AuthenticatedToken extends TokenHolder {
  /** The connection's (D32). Without the required scope the request is not counted, and so within its rate. */
  readonly rate: RateState
}

/**
 * Who is it, may it, and is it within its rate: one round trip, and a second one only for a request that was not counted.
 * Answers null for a token that is malformed, unknown or past its end, of a revoked connection, or of a person who may
 * not connect any more.
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
