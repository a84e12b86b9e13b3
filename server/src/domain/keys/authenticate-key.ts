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
 * Finds out who sent a request, and whether it is within its rate. Takes one round trip to the database, and a second
 * one only if the request is rejected.
 *
 * Returns null if the key is malformed, unknown, revoked or past its grace period.
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
