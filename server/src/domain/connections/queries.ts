import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { SECRET_PREFIXES, hashSecret, isSecret } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import { isClientUrl } from './client-url.ts'
import type { Client } from './client.ts'
import type { ConnectionSummary } from './connection.ts'
import { listConnectionRows } from './connections-store.ts'
import { findClientRow, findRequest } from './requests-store.ts'

/**
 * Returns the request with this handle. Throws 404 `authorization_request_not_found` if there is none or it has
 * expired, and 409 `authorization_request_decided` if a user has already decided on it.
 */
export async function getAuthorizationRequest(
  ctx: Pick<Context, 'db' | 'clock'>,
  { handle }: { handle: string },
): Promise<AuthorizationRequest> {
  const found = isSecret(SECRET_PREFIXES.requestHandle, handle)
    ? await ctx.db.read(findRequest(hashSecret(handle)))
    : null
  return checkOpen(found, ctx.clock.now())
}

/**
 * Returns the request if it can be decided on at `now`. Otherwise throws the same errors as `getAuthorizationRequest`.
 */
export function checkOpen(request: AuthorizationRequest | null, now: Date): AuthorizationRequest {
  if (request === null || request.expiresAt <= now) throw problem('authorization_request_not_found')
  if (request.decidedAt !== null) throw problem('authorization_request_decided')
  return request
}

/**
 * Returns a client that is stored here, or null. For a client with a metadata document, this is the stored copy of the
 * document, however old. Makes no query if the text cannot be a client's id.
 */
export async function findClient(ctx: Pick<Context, 'db'>, { id }: { id: string }): Promise<Client | null> {
  return isId('client', id) || isClientUrl(id) ? await ctx.db.read(findClientRow(id)) : null
}

/**
 * Lists a workspace's connections whose code was exchanged, in one mode or in both, newest first. If `userId` is given,
 * lists only those that this person connected. Includes connections of members whose current role does not allow them to connect applications. Those connections would work again if the
 * role changed back.
 */
export async function listConnections(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode = null, userId = null }: { workspaceId: string; mode?: Mode | null; userId?: string | null },
): Promise<ConnectionSummary[]> {
  return await ctx.db.read(listConnectionRows({ workspaceId, mode, userId, now: ctx.clock.now() }))
}
