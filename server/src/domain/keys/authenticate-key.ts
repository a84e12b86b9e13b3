import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { findWindow } from '../../limiter/limiter-store.ts'
import { parseApiKeySecret } from '../../values/api-key.ts'
import { hashSecret } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { isUsable } from './api-key.ts'
import { countKeyRequest, type KeyHolder } from './keys-store.ts'

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
  const found = await ctx.db.runRelaxed(countKeyRequest(subject, bucket, now))
  if (found === null || !isUsable(found.key, now)) return null
  return { ...found, rate: found.rate ?? (await ctx.db.runRelaxed(findWindow(subject, bucket, now))) }
}
