import { isId } from '../../values/ids.ts'
import type { Context } from '../context.ts'
import { enforceRateLimit, rejectAttempt, subjectOf } from '../enforce-rate-limit.ts'
import { isClientUrl } from './client-url.ts'
import type { Client } from './client.ts'
import { findClientAndCount } from './requests-store.ts'

/**
 * Returns a client that is stored here, or null, as `findClient` does. First, the request is counted against a rate
 * limit: per client and address, or per address if the client is unknown (D33). Takes one round trip to the database.
 * Throws 429 `rate_limit_exceeded` if the limit is exceeded.
 */
export async function findClientWithinLimit(
  ctx: Pick<Context, 'db' | 'clock'>,
  { id, address, bucket }: { id: string | null; address: string; bucket: 'token' | 'revoke' },
): Promise<Client | null> {
  const unknown = { subject: address, bucket }
  if (id === null || !(isId('client', id) || isClientUrl(id))) {
    await enforceRateLimit(ctx, unknown)
    return null
  }
  const known = { subject: `${id} ${address}`, bucket }
  const now = ctx.clock.now()
  const subjects = { known: subjectOf(known), unknown: subjectOf(unknown) }
  const { client, isCounted } = await ctx.db.runRelaxed(findClientAndCount(id, { ...subjects, bucket, now }))
  if (!isCounted) await rejectAttempt(ctx, client === null ? unknown : known, now)
  return client
}
