import type { FastifyReply, FastifyRequest } from 'fastify'
import { authenticateToken } from '../domain/connections/authenticate-token.ts'
import type { Context } from '../domain/context.ts'
import { authenticateKey } from '../domain/keys/authenticate-key.ts'
import { originOf, type Origins } from '../http/hosts.ts'
import type { Bucket, RateState } from '../limiter/bucket.ts'
import { Problem, problem } from '../values/problem.ts'
import type { Scope } from '../values/scope.ts'
import { SECRET_PREFIXES } from '../values/secret.ts'
import { setCaller, toKeyCaller, toTokenCaller, type Caller } from './caller.ts'
import { formatChallenge } from './challenge.ts'
import { setRateLimitHeaders, tooManyRequests } from './rate-limit-headers.ts'

const AUTHORIZATION_PATTERN = /^authorization$/i
/** The form of RFC 6750, section 2.1. The scheme's name is case-insensitive (RFC 9110, section 11.1). */
const BEARER_PATTERN = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** What a route requires of its caller. */
export interface Requirements {
  readonly bucket: Bucket
  /** The scope that an OAuth token must have. Without it, a token with any scope is accepted. */
  readonly scope?: Scope
  /** Whether only an API key is accepted, and no OAuth token (D31). */
  readonly apiKeyOnly?: boolean
}

interface Authenticated {
  readonly caller: Caller
  readonly rate: RateState
}

/**
 * Creates the hook before every `/v1` route. It checks the credential, then the scope, then the rate limit, before the body
 * is read (D18). It responds with 401 and 403 and a challenge (D31), or with 429. Every response to a valid credential has
 * the rate limit headers (D32).
 */
export function createAuthenticate(ctx: Context, origins: Origins, requirements: Requirements) {
  return async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    void reply.header('Cache-Control', 'no-store')
    const origin = originOf(request, origins)
    const credential = readCredential(request)
    const found = credential === null ? null : await findCaller(ctx, { credential, requirements })
    if (found === null) {
      const error = request.headers.authorization === undefined ? undefined : 'invalid_token'
      void reply.header('WWW-Authenticate', formatChallenge({ origin, error }))
      throw new Problem('unauthenticated', 'The API key or access token is missing, malformed, expired or revoked.')
    }
    const { caller, rate } = found
    setRateLimitHeaders(reply, rate)
    if (caller.graceUntil !== null) void reply.header('Service-Rotation-Grace-Until', caller.graceUntil.toISOString())
    if (requirements.apiKeyOnly === true && caller.authType !== 'api_key') throw problem('api_key_required')
    if (requirements.scope !== undefined && !caller.scopes.includes(requirements.scope)) {
      const challenge = formatChallenge({ origin, error: 'insufficient_scope', scopes: [requirements.scope] })
      void reply.header('WWW-Authenticate', challenge)
      throw problem('insufficient_scope', { details: { required_scope: requirements.scope } })
    }
    if (!rate.allowed) throw tooManyRequests(rate, ctx.clock.now())
    setCaller(request, caller)
  }
}

/** Finds the caller. The prefix decides the kind of credential; a failure does not show which kind it was (RFC 6750, section 3.1). */
async function findCaller(
  ctx: Context,
  { credential, requirements }: { credential: string; requirements: Requirements },
): Promise<Authenticated | null> {
  const { bucket, scope: requiredScope = null } = requirements
  if (credential.startsWith(SECRET_PREFIXES.accessToken)) {
    const token = await authenticateToken(ctx, { credential, bucket, requiredScope })
    return token === null ? null : { caller: toTokenCaller(token), rate: token.rate }
  }
  const key = await authenticateKey(ctx, { credential, bucket })
  return key === null ? null : { caller: toKeyCaller(key), rate: key.rate }
}

/** Reads the bearer credential (RFC 6750). Two `Authorization` headers count as none, because it is unclear which one is meant. */
function readCredential(request: FastifyRequest): string | null {
  const names = request.raw.rawHeaders.filter((name, index) => index % 2 === 0 && AUTHORIZATION_PATTERN.test(name))
  if (names.length !== 1) return null
  return BEARER_PATTERN.exec(request.headers.authorization ?? '')?.[1] ?? null
}
