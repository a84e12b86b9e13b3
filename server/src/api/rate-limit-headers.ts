import type { FastifyReply } from 'fastify'
import { retryAfterSeconds, type RateState } from '../limiter/bucket.ts'
import { Problem } from '../values/problem.ts'

/** Writes the `X-RateLimit-*` headers of every `/v1` response. `X-RateLimit-Reset` is in Unix milliseconds (D32). */
export function setRateLimitHeaders(reply: FastifyReply, rate: RateState): void {
  void reply.headers({
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(rate.remaining),
    'X-RateLimit-Reset': String(rate.resetAt.getTime()),
  })
}

/** The 429 of a caller over its rate limit. `http/send-problem.ts` writes its `Retry-After` header. */
export function tooManyRequests(rate: RateState, now: Date): Problem {
  const seconds = retryAfterSeconds(rate, now)
  return new Problem('rate_limited', `Too many requests. Retry in ${seconds} seconds.`, {
    code: 'rate_limit_exceeded',
    retryAfterSeconds: seconds,
  })
}
