import type { FastifyReply, FastifyRequest } from 'fastify'
import { authenticateToken } from '../domain/connections/authenticate-token.ts'
import type { Context } from '../domain/context.ts'
import { authenticateKey } from '../domain/keys/authenticate-key.ts'
import { originOf, type Origins } from '../http/hosts.ts'
import { retryAfterSeconds, type Bucket, type RateState } from '../limiter/bucket.ts'
import { Problem, problem } from '../values/problem.ts'
import type { Scope } from '../values/scope.ts'
import { SECRET_PREFIXES } from '../values/secret.ts'
import { setCaller, toKeyCaller, toTokenCaller, type Caller } from './caller.ts'
import { formatChallenge } from './challenge.ts'

const AUTHORIZATION_PATTERN = /^authorization$/i
/** RFC 6750, section 2.1; the scheme's name is case-insensitive (RFC 9110, section 11.1). */
const BEARER_PATTERN = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** What a route asks of its caller. */
export interface Needs {
  readonly bucket: Bucket
  /** The scope that an OAuth token must have; any will do where none is named (specification, part 5). */
  readonly scope?: Scope
  /** An OAuth token does not do (D31). */
  readonly apiKeyOnly?: boolean
}

interface Authenticated {
  readonly caller: Caller
  readonly rate: RateState
}

/**
 * The hook before every `/v1` route: credential, then scope, then rate (D18), before the body is read. Answers 401 and
 * 403 with a challenge (D31), 429 with the bucket's state; sets the rate headers on whatever follows (D32).
 */
export function createAuthenticate(ctx: Context, origins: Origins, needs: Needs) {
  return async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    void reply.header('Cache-Control', 'no-store')
    const origin = originOf(request, origins)
    const credential = readCredential(request)
    const found = credential === null ? null : await findCaller(ctx, { credential, needs })
    if (found === null) {
      const error = request.headers.authorization === undefined ? undefined : 'invalid_token'
      void reply.header('WWW-Authenticate', formatChallenge({ origin, error }))
      throw new Problem('unauthenticated', 'The API key or token is missing, not valid, or no longer valid.')
    }
    const { caller, rate } = found
    setRateHeaders(reply, rate)
    if (caller.graceUntil !== null) void reply.header('Service-Rotation-Grace-Until', caller.graceUntil.toISOString())
    if (needs.apiKeyOnly === true && caller.authType !== 'api_key') throw problem('api_key_required')
    if (needs.scope !== undefined && !caller.scopes.includes(needs.scope)) {
      const challenge = formatChallenge({ origin, error: 'insufficient_scope', scopes: [needs.scope] })
      void reply.header('WWW-Authenticate', challenge)
      throw problem('insufficient_scope', { details: { required_scope: needs.scope } })
    }
    if (!rate.allowed) throw tooManyRequests(rate, ctx.clock.now())
    setCaller(request, caller)
  }
}

/** The prefix decides which kind it is; the answer does not tell which it was (RFC 6750, section 3.1). */
async function findCaller(
  ctx: Context,
  { credential, needs }: { credential: string; needs: Needs },
): Promise<Authenticated | null> {
  const { bucket, scope: requiredScope = null } = needs
  if (credential.startsWith(SECRET_PREFIXES.accessToken)) {
    const token = await authenticateToken(ctx, { credential, bucket, requiredScope })
    return token === null ? null : { caller: toTokenCaller(token), rate: token.rate }
  }
  const key = await authenticateKey(ctx, { credential, bucket })
  return key === null ? null : { caller: toKeyCaller(key), rate: key.rate }
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
