import { startAuthentication, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { Grant, GrantTerms, SigningRequest } from './wire-spending.ts'
import { workspacePath } from './workspaces.ts'

interface GrantFilter {
  readonly agent?: string
  readonly wallet?: string
}

/** Those that are not revoked first, then the newest first; at most 200. */
export function grantsQuery(slug: string, mode: Mode, filter: GrantFilter = {}) {
  const query = new URLSearchParams({ mode, ...filter })
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'grants', 'list', query.toString()],
    queryFn: async ({ signal }) => {
      const path = `${workspacePath(slug, 'grants')}?${query}`
      return (await request<{ grants: readonly Grant[] }>('GET', path, { signal })).grants
    },
  })
}

export function grantQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'grants', 'one', id],
    queryFn: async ({ signal }) =>
      (await request<{ grant: Grant }>('GET', workspacePath(slug, 'grants', id), { signal })).grant,
  })
}

interface NewGrant extends GrantTerms {
  readonly mode: Mode
  readonly agent_id: string
  readonly wallet: string
}

/** Prepares a grant: it allows nothing before the wallet's owner has signed it. */
export async function createGrant(slug: string, grant: NewGrant): Promise<Grant> {
  const path = workspacePath(slug, 'grants')
  return (await request<{ grant: Grant }>('POST', path, { body: { ...grant } })).grant
}

/** Prepares the grant that takes the place of another one when it is signed. */
export async function prepareReplacement(slug: string, id: string, terms: GrantTerms): Promise<Grant> {
  const path = workspacePath(slug, 'grants', id, 'replacement')
  return (await request<{ grant: Grant }>('POST', path, { body: { ...terms } })).grant
}

/**
 * Signs that a grant begins, or ends, by the passkey that owns its wallet. Every call asks for a new signing request, so
 * that one which has expired costs a click and no more. A pending grant ends without a signature.
 *
 * @throws ApiError, or the browser's error when the passkey was not given: nothing has changed then
 */
export async function signGrant(slug: string, id: string, change: 'activate' | 'revoke'): Promise<Grant> {
  const { grant, signing_request } = await request<SigningRequest<PublicKeyCredentialRequestOptionsJSON>>(
    'POST',
    workspacePath(slug, 'grants', id, 'signing-request'),
    { body: { change } },
  )
  if (signing_request === null) return grant
  const response = await startAuthentication({ optionsJSON: signing_request.options })
  const path = workspacePath(slug, 'grants', id, 'signature')
  return (await request<{ grant: Grant }>('POST', path, { body: { response } })).grant
}

/** From this moment on it allows nothing. */
export async function suspendGrant(slug: string, id: string): Promise<Grant> {
  return (await request<{ grant: Grant }>('POST', workspacePath(slug, 'grants', id, 'suspend'), { body: {} })).grant
}
