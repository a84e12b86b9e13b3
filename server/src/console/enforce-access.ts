import type { FastifyContextConfig, FastifyRequest, RouteOptions } from 'fastify'
import type { Context } from '../domain/context.ts'
import { getMembership } from '../domain/members/queries.ts'
import type { Role } from '../domain/members/role.ts'
import { enforceRateLimit } from '../domain/enforce-rate-limit.ts'
import { clientAddress } from '../http/client-address.ts'
import type { HttpServer } from '../http/open-http.ts'
import { Problem } from '../values/problem.ts'
import type { Access } from './contract/route.ts'
import { setCurrentMembership } from './current-membership.ts'
import { findCurrentSession, getCurrentSession } from './current-session.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly role?: Access['role']
    readonly proof?: Access['proof']
    readonly bucket?: Access['bucket']
  }
}

const SLUG_PATTERN = /^[a-z0-9-]{1,64}$/

type WorkspaceRequest = FastifyRequest<{ Params: { slug: string } }>

/**
 * Makes every endpoint of `scope` enforce the role and the rate limit that its route declares. The request is counted
 * before its body is read (D33), so that we need not read the body of a caller who is over the limit. The role is
 * checked last, right before the handler, so that it cannot change between the check and the handler. The domain checks
 * the recent passkey proof.
 */
export function enforceAccess(scope: HttpServer, ctx: Context): void {
  scope.addHook('onRoute', checkDeclaration)
  scope.addHook('onRequest', (request) => enforceBucket(ctx, request))
  scope.addHook<{ Params: { slug: string } }>('preHandler', (request) => enforceRole(ctx, request))
}

/** Checks at start-up that a route declares who may call it. Without a declaration it would be open to everyone. */
function checkDeclaration({ method, url, config = {} }: RouteOptions): void {
  const { role } = accessOf(config)
  if (isWorkspaceRole(role) && !url.includes('/:slug')) {
    throw new Error(`${String(method)} ${url} declares the role ${role}, but its path names no workspace`)
  }
}

/** Counts a request per session, or per IP address if nobody is signed in. Throws 429 above the limit. */
async function enforceBucket(ctx: Context, request: FastifyRequest): Promise<void> {
  const session = findCurrentSession(request)
  const subject = session === null ? clientAddress(request) : session.secretHash.toString('hex')
  await enforceRateLimit(ctx, { subject, bucket: 'dashboard' })
  const { bucket } = accessOf(request.routeOptions.config)
  if (bucket !== 'dashboard') await enforceRateLimit(ctx, { subject: clientAddress(request), bucket })
}

async function enforceRole(ctx: Context, request: WorkspaceRequest): Promise<void> {
  const { role } = accessOf(request.routeOptions.config)
  if (isWorkspaceRole(role)) await requireRole(ctx, request, role)
  else if (role === 'session') getCurrentSession(request)
}

/**
 * Requires that the caller has at least `role` in the workspace that the path names. Throws 401 if nobody is signed in,
 * 404 if the caller is not a member of the workspace, and 403 `role_insufficient` if their role is too low.
 */
async function requireRole(ctx: Context, request: WorkspaceRequest, role: Role): Promise<void> {
  const { userId } = getCurrentSession(request)
  const { slug } = request.params
  if (!SLUG_PATTERN.test(slug)) throw new Problem('not_found', 'You have no workspace with this slug.')
  setCurrentMembership(request, await getMembership(ctx, { userId, slug, role }))
}

function isWorkspaceRole(role: Access['role']): role is Role {
  return role !== 'none' && role !== 'session'
}

function accessOf({ role, proof, bucket }: FastifyContextConfig): Access {
  if (role === undefined || proof === undefined || bucket === undefined) {
    throw new Error('an endpoint of the dashboard must declare its role, proof and bucket')
  }
  return { role, proof, bucket }
}
