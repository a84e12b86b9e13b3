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
 * The request that waits behind a handle. 404 `authorization_request_not_found` when there is none, or its time is over;
 * 409 `authorization_request_decided`.
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

/** Answers the request if it can be decided on at `now`. */
export function checkOpen(request: AuthorizationRequest | null, now: Date): AuthorizationRequest {
  if (request === null || request.expiresAt <= now) throw problem('authorization_request_not_found')
  if (request.decidedAt !== null) throw problem('authorization_request_decided')
  return request
}

/** A registered client, or null. A text that can't be an id is not looked up. */
export async function findClient(ctx: Pick<Context, 'db'>, { id }: { id: string }): Promise<Client | null> {
  return isId('client', id) ? await ctx.db.runRelaxed(findClientRow(id)) : null
}

/**
 * A workspace's connections that hold tokens, those of a mode or all, the newest first. Those of a member whose role does not allow connecting
 * now are among them: they would come back to life with the role.
 */
export async function listConnections(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode = null }: { accountId: string; mode?: Mode | null },
): Promise<ConnectionSummary[]> {
  return await ctx.db.runRelaxed(listConnectionRows({ accountId, mode, now: ctx.clock.now() }))
}
