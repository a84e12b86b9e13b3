import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { SECRET_PREFIXES, hashSecret, isSecret } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { Client } from './client.ts'
import type { ConnectionSummary } from './connection.ts'
import { listConnectionRows } from './connections-store.ts'
import { findClientRow, findRequest } from './requests-store.ts'

/**
 * Returns the request with this handle. Throws 404 `authorization_request_not_found` if there is none or it has
 * expired, and 409 `authorization_request_decided`.
 */
export async function getAuthorizationRequest(
  ctx: Pick<Context, 'db' | 'clock'>,
  { handle }: { handle: string },
): Promise<AuthorizationRequest> {
  const found = isSecret(SECRET_PREFIXES.requestHandle, handle)
    ? await ctx.db.runRelaxed(findRequest(hashSecret(handle)))
    : null
  return checkOpen(found, ctx.clock.now())
}

/** Returns the request if it can be decided on at `now`; throws as `getAuthorizationRequest` does otherwise. */
export function checkOpen(request: AuthorizationRequest | null, now: Date): AuthorizationRequest {
  if (request === null || request.expiresAt <= now) throw problem('authorization_request_not_found')
  if (request.decidedAt !== null) throw problem('authorization_request_decided')
  return request
}

/** Returns a registered client, or null. A text that cannot be an id is not looked up. */
export async function findClient(ctx: Pick<Context, 'db'>, { id }: { id: string }): Promise<Client | null> {
  return isId('client', id) ? await ctx.db.runRelaxed(findClientRow(id)) : null
}

/**
 * Lists a workspace's connections that hold tokens, in one mode or all, newest first. It includes those of members
 * whose current role does not allow connecting applications, because they would work again if the role changed back.
 */
export async function listConnections(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode = null }: { accountId: string; mode?: Mode | null },
): Promise<ConnectionSummary[]> {
  return await ctx.db.runRelaxed(listConnectionRows({ accountId, mode, now: ctx.clock.now() }))
}
