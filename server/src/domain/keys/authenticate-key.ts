import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { countRequest, findWindow } from '../../limiter/store.ts'
import { hashSecret, parseApiKeySecret } from '../../values/api-key.ts'
import type { Context } from '../context.ts'
import { isUsable } from './api-key.ts'
import { findKeyHolder, type KeyHolder } from './store.ts'

export interface AuthenticatedKey extends KeyHolder {
  readonly rate: RateState
}

/**
 * Who is it, and is it within its rate: one round trip, and a second one only for a request that is turned away.
 * Answers null for a key that is malformed, unknown, revoked or past its grace.
 */
export async function authenticateKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { credential, bucket }: { credential: string; bucket: Bucket },
): Promise<AuthenticatedKey | null> {
  const secret = parseApiKeySecret(credential)
  if (secret === null) return null
  const now = ctx.clock.now()
  const subject = hashSecret(secret)
  const [holder, counted] = await ctx.db.readBoth(findKeyHolder(subject), countRequest(subject, bucket, now))
  if (holder === null || !isUsable(holder.key, now)) return null
  return { ...holder, rate: counted ?? (await ctx.db.read(findWindow(subject, bucket, now))) }
}
