import { gathered, type GatheredQuery } from '../../db/gathered-query.ts'
import { isId } from '../../values/ids.ts'
import type { Context } from '../context.ts'
import { enforceRateLimit, rejectAttempt, subjectOf } from '../enforce-rate-limit.ts'
import { isClientUrl } from './client-url.ts'
import type { Client } from './client.ts'
import { findClientsAndCount, type ClientRequest, type CountedClient } from './requests-store.ts'

type ClientBucket = 'token' | 'revoke'

/**
 * Requests of one bucket that arrive together are counted by one statement. A statement counts each subject only once,
 * so two requests of one subject need two statements.
 */
const COUNT_REQUESTS: Readonly<Record<ClientBucket, GatheredQuery<ClientRequest, CountedClient>>> = {
  token: gatherCounts('token'),
  revoke: gatherCounts('revoke'),
}

function gatherCounts(bucket: ClientBucket): GatheredQuery<ClientRequest, CountedClient> {
  return gathered({
    keyOf: ({ subject }) => subject.toString('latin1'),
    queryOf: (requests) => findClientsAndCount(bucket, requests),
  })
}

/**
 * Returns the stored client with this id, or null, as `findClient` does. First, the request is counted against a rate
 * limit: per client and address, or per address if the client is unknown (D33). Takes one round trip to the database,
 * which other requests share, and a second one if the client is unknown. Throws 429 `rate_limit_exceeded` if the limit
 * is exceeded.
 */
export async function findClientWithinLimit(
  ctx: Pick<Context, 'db' | 'clock'>,
  { id, address, bucket }: { id: string | null; address: string; bucket: ClientBucket },
): Promise<Client | null> {
  if (id !== null && (isId('client', id) || isClientUrl(id))) {
    const known = { subject: `${id} ${address}`, bucket }
    const now = ctx.clock.now()
    const found = await ctx.db.gather(COUNT_REQUESTS[bucket], { id, subject: subjectOf(known), now })
    if (found?.isCounted === false) await rejectAttempt(ctx, known, now)
    if (found !== null) return found.client
  }
  await enforceRateLimit(ctx, { subject: address, bucket })
  return null
}
