import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../domain/context.ts'
import { authenticateKey, type AuthenticatedKey } from '../domain/keys/authenticate-key.ts'
import { retryAfterSeconds, type Bucket, type RateState } from '../limiter/bucket.ts'
import { Problem } from '../values/problem.ts'
import { SCOPES, setCaller, type Caller } from './caller.ts'

const AUTHORIZATION_PATTERN = /^authorization$/i
/** RFC 6750, section 2.1; the scheme's name is case-insensitive (RFC 9110, section 11.1). */
const BEARER_PATTERN = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/**
 * The hook before every `/v1` route: credential, then rate (D18), before the body is read. Answers 401 with a challenge
 * (D31), 429 with the bucket's state; sets the rate headers on whatever follows (D32).
 */
export function createAuthenticate(ctx: Context, { baseUrl }: { baseUrl: string }, bucket: Bucket) {
  const metadata = `resource_metadata="${baseUrl}/.well-known/oauth-protected-resource"`

  return async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    void reply.header('Cache-Control', 'no-store')
    const credential = readCredential(request)
    const holder = credential === null ? null : await authenticateKey(ctx, { credential, bucket })
    if (holder === null) {
      const given = request.headers.authorization !== undefined
      const challenge = given ? `Bearer error="invalid_token", ${metadata}` : `Bearer ${metadata}`
      void reply.header('WWW-Authenticate', challenge)
      throw new Problem('unauthenticated', 'The API key is missing, not valid, or no longer valid.')
    }
    setRateHeaders(reply, holder.rate)
    const { graceUntil } = holder.key
    if (graceUntil !== null) void reply.header('Service-Rotation-Grace-Until', graceUntil.toISOString())
    if (!holder.rate.allowed) throw tooManyRequests(holder.rate, ctx.clock.now())
    setCaller(request, toCaller(holder))
  }
}

/** One `Authorization` header, in the form of RFC 6750; two of them are none, since nobody can tell which one counts. */
function readCredential(request: FastifyRequest): string | null {
  const names = request.raw.rawHeaders.filter((name, index) => index % 2 === 0 && AUTHORIZATION_PATTERN.test(name))
  if (names.length !== 1) return null
  return BEARER_PATTERN.exec(request.headers.authorization ?? '')?.[1] ?? null
}

function setRateHeaders(reply: FastifyReply, rate: RateState): void {
  void reply.headers({
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(rate.remaining),
    'X-RateLimit-Reset': String(rate.resetAt.getTime()),
  })
}

function tooManyRequests(rate: RateState, now: Date): Problem {
  const seconds = retryAfterSeconds(rate, now)
  return new Problem('rate_limited', `Too many requests. Retry in ${seconds} seconds.`, {
    code: 'rate_limit_exceeded',
    retryAfterSeconds: seconds,
  })
}

function toCaller({ key, account }: AuthenticatedKey): Caller {
  return {
    authType: 'api_key',
    accountId: key.accountId,
    accountSlug: account.slug,
    accountName: account.name,
    plan: account.plan,
    mode: key.mode,
    scopes: SCOPES,
    agentId: null,
    expiresAt: key.graceUntil,
  }
}
