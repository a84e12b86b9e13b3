import { problem } from '../../values/problem.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import { findRequest } from './requests-store.ts'

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
