import type { FastifyContextConfig, FastifyRequest, RouteOptions } from 'fastify'
import type { Context } from '../domain/context.ts'
import { getMembership } from '../domain/members/queries.ts'
import { workspaceMoving } from '../domain/moves/check-moved.ts'
import type { Right } from '../values/role.ts'
import { enforceRateLimit } from '../domain/enforce-rate-limit.ts'
import { clientAddress } from '../http/client-address.ts'
import type { HttpServer } from '../http/open-http.ts'
import { Problem } from '../values/problem.ts'
import type { Access } from './contract/route.ts'
import { getCurrentSession } from './current-session.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly needs?: Access['needs']
    readonly proof?: Access['proof']
    readonly bucket?: Access['bucket']
  }
}

/** A workspace that is being moved to another cell accepts these methods only (D95). */
const READ_METHODS: readonly string[] = ['GET', 'HEAD']
const SLUG_PATTERN = /^[a-z0-9-]{1,64}$/

type WorkspaceRequest = FastifyRequest<{ Params: { slug: string } }>

/**
 * Makes every endpoint of `scope` enforce the right and the rate limit that its route declares. The request is counted
 * before its body is parsed (D33), so that we need not parse the body of a caller who is over the limit. The right is
 * checked last, right before the handler, so that it cannot change between the check and the handler. The domain checks
 * the recent passkey proof.
 */
export function enforceAccess(scope: HttpServer, ctx: Context): void {
  scope.addHook('onRoute', checkDeclaration)
  scope.addHook('onRequest', (request) => enforceBucket(ctx, request))
  scope.addHook<{ Params: { slug: string } }>('preHandler', (request) => enforceRight(ctx, request))
}

/** Checks at start-up that a route declares who may call it. Without a declaration it would be open to everyone. */
function checkDeclaration({ method, url, config = {} }: RouteOptions): void {
  const { needs } = accessOf(config)
  if (isRight(needs) && !url.includes('/:slug')) {
    throw new Error(`${String(method)} ${url} needs the right ${needs}, but its path names no workspace`)
  }
}

/** Counts a request per session, or per IP address if nobody is signed in. Throws 429 above the limit. */
async function enforceBucket(ctx: Context, request: FastifyRequest): Promise<void> {
  const { session } = request
  const subject = session === null ? clientAddress(request) : session.secretHash.toString('hex')
  await enforceRateLimit(ctx, { subject, bucket: 'dashboard' })
  const { bucket } = accessOf(request.routeOptions.config)
  if (bucket !== 'dashboard') await enforceRateLimit(ctx, { subject: clientAddress(request), bucket })
}

async function enforceRight(ctx: Context, request: WorkspaceRequest): Promise<void> {
  const { needs } = accessOf(request.routeOptions.config)
  if (isRight(needs)) await requireRight(ctx, request, needs)
  else if (needs === 'session') getCurrentSession(request)
}

/**
 * Requires that the caller has this right in the workspace that the path names. Throws 401 if nobody is signed in,
 * 404 if the caller is not a member of the workspace, 403 `role_insufficient` if their role does not have the right, and
 * 503 `workspace_moving` if the request could change a workspace that is being moved.
 */
async function requireRight(ctx: Context, request: WorkspaceRequest, right: Right): Promise<void> {
  const { userId } = getCurrentSession(request)
  const { slug } = request.params
  if (!SLUG_PATTERN.test(slug)) throw new Problem('not_found', 'You have no workspace with this slug.')
  request.membership = await getMembership(ctx, { userId, slug, right })
  const { workspace } = request.membership
  request.workspaceId = workspace.id
  if (workspace.movingSince !== null && !READ_METHODS.includes(request.method)) throw workspaceMoving()
  ctx.pools.creators.remember(workspace.id, workspace.createdBy)
}

function isRight(needs: Access['needs']): needs is Right {
  return needs !== 'nothing' && needs !== 'session'
}

function accessOf({ needs, proof, bucket }: FastifyContextConfig): Access {
  if (needs === undefined || proof === undefined || bucket === undefined) {
    throw new Error('an endpoint of the dashboard must declare what it needs, its proof and its bucket')
  }
  return { needs, proof, bucket }
}
