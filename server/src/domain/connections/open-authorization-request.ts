import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import { REQUEST_LIFETIME_MS } from './limits.ts'
import { insertRequest } from './requests-store.ts'

export interface NewAuthorizationRequest extends Pick<
  AuthorizationRequest,
  'redirectUri' | 'scopes' | 'state' | 'codeChallenge' | 'resource' | 'agentId'
> {
  readonly clientId: string
}

/**
 * Stores a validated authorization request until it expires. Returns its handle, the secret with which it is found
 * again. A later approval uses the stored values, never values from the submitted form.
 */
export async function openAuthorizationRequest(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: NewAuthorizationRequest,
): Promise<string> {
  const createdAt = ctx.clock.now()
  const handle = createSecret(SECRET_PREFIXES.requestHandle)
  const expiresAt = new Date(createdAt.getTime() + REQUEST_LIFETIME_MS)
  await ctx.db.write(insertRequest(hashSecret(handle), { ...request, createdAt, expiresAt }))
  return handle
}
