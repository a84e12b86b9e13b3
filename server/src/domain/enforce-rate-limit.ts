import { hash } from 'node:crypto'
import type { AttemptBucket } from '../limiter/attempts.ts'
import { retryAfterSeconds } from '../limiter/bucket.ts'
import { countAttempt, findAttempts } from '../limiter/limiter-store.ts'
import { Problem } from '../values/problem.ts'
import type { Context } from './context.ts'

/**
 * Counts one attempt by `subject`, which is an IP address, the hash of a session or the id of a workspace. Only a hash
 * of the subject is stored. If the limit of `bucket` is exceeded, throws 429 `rate_limit_exceeded` with the number of seconds to wait
 * (D33).
 */
export async function enforceRateLimit(
  ctx: Pick<Context, 'db' | 'clock'>,
  { subject, bucket }: { subject: string; bucket: AttemptBucket },
): Promise<void> {
  const now = ctx.clock.now()
  const key = hash('sha256', `${bucket}:${subject}`, 'buffer')
  if ((await ctx.db.runRelaxed(countAttempt(key, bucket, now))) !== null) return
  const seconds = retryAfterSeconds(await ctx.db.runRelaxed(findAttempts(key, bucket, now)), now)
  throw new Problem('rate_limited', `Too many requests. Retry in ${seconds} seconds.`, {
    code: 'rate_limit_exceeded',
    retryAfterSeconds: seconds,
  })
}
