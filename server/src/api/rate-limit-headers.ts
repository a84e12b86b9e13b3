import type { FastifyReply } from 'fastify'
import { retryAfterSeconds, type RateState } from '../limiter/bucket.ts'
import { Problem } from '../values/problem.ts'

/**
 * Sets the `X-RateLimit-*` headers of a response to a request with a valid credential. `X-RateLimit-Reset` is in Unix
 * milliseconds (D32).
 */
export function setRateLimitHeaders(reply: FastifyReply, rate: RateState): void {
  void reply.headers({
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(rate.remaining),
    'X-RateLimit-Reset': String(rate.resetAt.getTime()),
  })
}

/** Returns the 429 error for a caller over its rate limit. `http/send-problem.ts` sets its `Retry-After` header. */
export function tooManyRequests(rate: RateState, now: Date): Problem {
  const seconds = retryAfterSeconds(rate, now)
  return new Problem('rate_limited', `Too many requests. Retry in ${seconds} seconds.`, {
    code: 'rate_limit_exceeded',
    retryAfterSeconds: seconds,
  })
}
