import { hash } from 'node:crypto'
import type { AttemptBucket } from '../limiter/attempts.ts'
import { retryAfterSeconds } from '../limiter/bucket.ts'
import { countAttempt, findAttempts } from '../limiter/limiter-store.ts'
import { tooManyRequests } from '../values/problem.ts'
import type { Context } from './context.ts'

/**
 * An attempt that a rate limit counts. `subject` says who made it: an IP address, the hash of a session or the id of a
 * workspace. Only the hash of the subject is stored.
 */
export interface CountedAttempt {
  readonly subject: string
  readonly bucket: AttemptBucket
}

/**
 * Counts one attempt. If the limit of its bucket is exceeded, throws 429 `rate_limit_exceeded` with the number of
 * seconds to wait (D33).
 */
export async function enforceRateLimit(ctx: Pick<Context, 'db' | 'clock'>, attempt: CountedAttempt): Promise<void> {
  const now = ctx.clock.now()
  const counted = await ctx.db.write(countAttempt(subjectOf(attempt), attempt.bucket, now), { mayBeLost: true })
  if (counted === null) await rejectAttempt(ctx, attempt, now)
}

/** Returns the subject of an attempt's rate limit, as the database stores it. */
export function subjectOf({ subject, bucket }: CountedAttempt): Buffer {
  return hash('sha256', `${bucket}:${subject}`, 'buffer')
}

/** Throws the 429 for an attempt that was not counted because the limit is exceeded. */
export async function rejectAttempt(ctx: Pick<Context, 'db'>, attempt: CountedAttempt, now: Date): Promise<never> {
  const window = await ctx.db.read(findAttempts(subjectOf(attempt), attempt.bucket, now))
  throw tooManyRequests(retryAfterSeconds(window, now))
}
