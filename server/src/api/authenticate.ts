import type { FastifyReply, FastifyRequest } from 'fastify'
import { authenticateToken } from '../domain/connections/authenticate-token.ts'
import type { Context } from '../domain/context.ts'
import { authenticateKey, type AuthenticatedKey } from '../domain/keys/authenticate-key.ts'
import { checkMoved, workspaceMoving } from '../domain/moves/check-moved.ts'
import { listResources, MCP_PATH, originOf, type Origins, type ResourcePath } from '../http/hosts.ts'
import { type Bucket, type RateState, retryAfterSeconds } from '../limiter/bucket.ts'
import { Problem, problem, tooManyRequests } from '../values/problem.ts'
import { formatScopes, type Scope, SCOPES } from '../values/scope.ts'
import { SECRET_PREFIXES } from '../values/secret.ts'
import { type Caller, callerOf, isUnrestrictedKey, toKeyCaller, toTokenCaller } from './caller.ts'

const AUTHORIZATION_PATTERN = /^authorization$/i
/**
 * The form of a bearer credential (RFC 6750, section 2.1). The scheme's name is case-insensitive (RFC 9110, section
 * 11.1).
 */
const BEARER_PATTERN = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** A workspace that is being moved to another cell accepts these methods only. */
const READ_METHODS: readonly string[] = ['GET', 'HEAD']

/** The message of every 401. */
export const UNAUTHENTICATED_MESSAGE =
  'The API key or access token is missing, malformed, expired or revoked. Send a valid one in the header ' +
  '"Authorization: Bearer …", with the key or token in place of the dots.'

/** The rate limit that a route uses, and what the route requires of the caller's credential. */
export interface Requirements {
  readonly bucket: Bucket
  /** The scope that the credential must have. Without this member, the route accepts a credential with any scope. */
  readonly scope?: Scope
  /** Whether only an unrestricted API key is accepted, and neither a restricted one (D56) nor an OAuth token (D31). */
  readonly unrestrictedKeyOnly?: boolean
  /** The path of the protected resource that is called. `/mcp` also checks for which resource a token was issued. */
  readonly resourcePath?: ResourcePath
}

const requirementsByHook = new WeakMap<object, Requirements>()

/** Returns the requirements of an authentication hook, for the API's contract. Returns undefined for any other hook. */
export function requirementsOf(hook: object): Requirements | undefined {
  return requirementsByHook.get(hook)
}

interface Authenticated {
  readonly caller: Caller
  /** Whether the credential is an API key that waits for an owner to confirm it after a restore (D96a). */
  readonly isHeld: boolean
  /** Whether the workspace is being moved to another cell (D95). */
  readonly isMoving: boolean
  readonly rate: RateState
}

export interface Identified {
  readonly caller: Caller
  /**
   * The error that rejects a request although its credential is valid: a 429 if the caller is over its rate limit, or,
   * at `/mcp`, a 403 if an API key does not have the required scope. Null if the request is allowed.
   */
  readonly rejection: Problem | null
}

/**
 * Creates the hook that runs before every `/v1` route, and before the body is parsed. The hook throws every error that
 * `identifyCaller` throws or returns.
 */
export function createAuthenticate(ctx: Context, origins: Origins, requirements: Requirements) {
  requirementsByHook.set(authenticate, requirements)
  return authenticate

  async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { caller, rejection } = await identifyCaller(ctx, { request, reply, origins, requirements })
    if (rejection !== null) throw rejection
    request.caller = caller
  }
}

/**
 * Checks the credential of a request, then whether an API key is held (D96a), then the scope, then the rate limit
 * (D18). A 401 or 403 is thrown, and a 401 and a 403 for a missing scope have a challenge (D31). Two errors are returned
 * instead, because the MCP server responds to them in its own form (D71): the 429 of a caller over its rate limit, and,
 * at `/mcp`, the 403 of an API key without the required scope. This last 403 has no challenge, because a host that uses
 * an API key cannot request more scopes. Every response to a valid credential has the rate limit headers (D32).
 */
export async function identifyCaller(
  ctx: Context,
  {
    request,
    reply,
    origins,
    requirements,
  }: { request: FastifyRequest; reply: FastifyReply; origins: Origins; requirements: Requirements },
): Promise<Identified> {
  void reply.header('Cache-Control', 'no-store')
  const { resourcePath = '' } = requirements
  // The metadata must name the resource as the client called it, with or without a slash (RFC 9728, section 3.3).
  const calledPath = resourcePath === '' ? '' : request.routeOptions.url
  const challenge = (refusal: Omit<Parameters<typeof formatChallenge>[0], 'origin' | 'resourcePath'>): string =>
    formatChallenge({ ...refusal, origin: originOf(request, origins), resourcePath: calledPath })
  const credential = readCredential(request)
  const found = credential === null ? null : await findCaller(ctx, { credential, requestId: request.id, requirements })
  if (found === null || !isIntendedFor(found.caller, { resourcePath, origins })) {
    request.server.overloadGate.forget(request.headers.authorization)
    if (found === null && credential !== null) await checkMoved(ctx, credential)
    const error = request.headers.authorization === undefined ? undefined : 'invalid_token'
    void reply.header('WWW-Authenticate', challenge({ error }))
    throw new Problem('unauthenticated', UNAUTHENTICATED_MESSAGE)
  }
  const { caller, rate } = found
  request.workspaceId = caller.workspaceId
  ctx.pools.creators.remember(caller.workspaceId, caller.creatorId)
  request.server.overloadGate.remember(request.headers.authorization, caller.workspaceId)
  setRateLimitHeaders(reply, rate)
  if (caller.graceUntil !== null) void reply.header('Service-Rotation-Grace-Until', caller.graceUntil.toISOString())
  if (found.isHeld) throw problem('key_held')
  if (found.isMoving && !READ_METHODS.includes(request.method)) throw workspaceMoving()
  if (requirements.unrestrictedKeyOnly === true && !isUnrestrictedKey(caller)) throw problem('api_key_required')
  const { scope } = requirements
  if (scope !== undefined && !caller.scopes.includes(scope)) {
    const missingScope = scopeMissing(scope)
    if (resourcePath === MCP_PATH && caller.authType === 'api_key') return { caller, rejection: missingScope }
    const scopes = resourcePath === '' ? [scope] : SCOPES.filter((one) => one === scope || caller.scopes.includes(one))
    void reply.header('WWW-Authenticate', challenge({ error: 'insufficient_scope', scopes }))
    throw missingScope
  }
  return { caller, rejection: rate.allowed ? null : tooManyRequests(retryAfterSeconds(rate, ctx.clock.now())) }
}

/**
 * Throws 403, with its challenge, if the caller of a `/v1` request does not have a scope that its body turned out to
 * need.
 */
export function requireScope(
  request: FastifyRequest,
  { reply, origins, scope }: { reply: FastifyReply; origins: Origins; scope: Scope },
): void {
  if (callerOf(request).scopes.includes(scope)) return
  const origin = originOf(request, origins)
  void reply.header('WWW-Authenticate', formatChallenge({ origin, error: 'insufficient_scope', scopes: [scope] }))
  throw scopeMissing(scope)
}

function scopeMissing(scope: Scope): Problem {
  return problem('insufficient_scope', { details: { required_scope: scope } })
}

/**
 * Returns whether a credential was issued for the resource that is called. The MCP server rejects a token that names a
 * resource which is no longer ours, for example after `BASE_URL` was changed. A token for a whole host is valid for the
 * MCP server on this host too. API keys, and tokens that name no resource, are valid everywhere.
 */
function isIntendedFor(
  { resource }: Caller,
  { resourcePath, origins }: { resourcePath: ResourcePath; origins: Origins },
): boolean {
  return resourcePath === '' || resource === null || listResources(origins).includes(resource)
}

/**
 * Finds the caller. The prefix of the credential shows whether the credential is an API key or an OAuth token. An
 * invalid API key gets the same error as an invalid token (RFC 6750, section 3.1).
 */
async function findCaller(
  ctx: Context,
  { credential, requestId, requirements }: { credential: string; requestId: string; requirements: Requirements },
): Promise<Authenticated | null> {
  const { bucket, scope: requiredScope = null } = requirements
  if (credential.startsWith(SECRET_PREFIXES.accessToken)) {
    const token = await authenticateToken(ctx, { credential, bucket, requiredScope })
    return token === null ? null : toAuthenticated(toTokenCaller(token, requestId), { ...token, isHeld: false })
  }
  const key = await authenticateKey(ctx, { credential, bucket, requiredScope })
  return key === null ? null : toAuthenticated(toKeyCaller(key, requestId), key)
}

function toAuthenticated(
  caller: Caller,
  { rate, isHeld, workspace }: Pick<AuthenticatedKey, 'rate' | 'isHeld' | 'workspace'>,
): Authenticated {
  return { caller, rate, isHeld, isMoving: workspace.movingSince !== null }
}

/**
 * Reads the bearer credential (RFC 6750). Returns null if there are several `Authorization` headers, because it is
 * unclear which one is meant.
 */
function readCredential(request: FastifyRequest): string | null {
  const { rawHeaders } = request.raw
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (AUTHORIZATION_PATTERN.test(rawHeaders[index] ?? '')) count += 1
  }
  if (count !== 1) return null
  return BEARER_PATTERN.exec(request.headers.authorization ?? '')?.[1] ?? null
}

/**
 * Formats the `WWW-Authenticate` challenge (RFC 6750, section 3; RFC 9728, section 5.1). If no credential was sent, the
 * challenge has no error. If the credential does not have a required scope, the challenge names that scope. Every other
 * challenge names all scopes, because clients register the scopes of the first challenge, and cannot request more
 * later. `resourcePath` selects the metadata of the resource that was called.
 */
function formatChallenge({
  origin,
  error,
  scopes = SCOPES,
  resourcePath = '',
}: {
  origin: string
  error?: 'invalid_token' | 'insufficient_scope' | undefined
  scopes?: readonly Scope[]
  resourcePath?: string | undefined
}): string {
  const parameters = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    `scope="${formatScopes(scopes)}"`,
    `resource_metadata="${origin}/.well-known/oauth-protected-resource${resourcePath}"`,
  ]
  return `Bearer ${parameters.join(', ')}`
}

/**
 * Sets the `X-RateLimit-*` headers of a response to a request with a valid credential. `X-RateLimit-Reset` is in Unix
 * milliseconds (D32).
 */
function setRateLimitHeaders(reply: FastifyReply, rate: RateState): void {
  void reply.headers({
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(rate.remaining),
    'X-RateLimit-Reset': String(rate.resetAt.getTime()),
  })
}
