import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Grant, GrantTerms } from '@bursar/server/src/console/contract/grants.ts'
import { startAuthentication } from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

interface GrantFilter {
  readonly agent?: string
  readonly wallet?: string
}

/** Those that are not revoked first, then the newest first; at most 200. */
export function grantsQuery(slug: string, mode: Mode, filter: GrantFilter = {}) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'grants', 'list', filter],
    queryFn: async ({ signal }) => {
      const input = { params: { slug }, query: { mode, ...filter }, signal }
      return (await request('GET /console/workspaces/:slug/grants', input)).grants
    },
  })
}

export function grantQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'grants', 'one', id],
    queryFn: async ({ signal }) =>
      (await request('GET /console/workspaces/:slug/grants/:id', { params: { slug, id }, signal })).grant,
  })
}

interface NewGrant extends GrantTerms {
  readonly mode: Mode
  readonly agent_id: string
  readonly wallet: string
}

/** Prepares a grant. It allows nothing until the wallet's owner has signed it. */
export async function createGrant(slug: string, grant: NewGrant): Promise<Grant> {
  return (await request('POST /console/workspaces/:slug/grants', { params: { slug }, body: grant })).grant
}

/** Prepares a grant that replaces another one once it is signed. */
export async function prepareReplacement(slug: string, id: string, terms: GrantTerms): Promise<Grant> {
  const input = { params: { slug, id }, body: terms }
  return (await request('POST /console/workspaces/:slug/grants/:id/replacement', input)).grant
}

/**
 * Signs the activation or revocation of a grant, by the passkey that owns its wallet. Every call asks for a new signing
 * request, so that an expired one costs the person a click and no more. A pending grant is revoked without a signature.
 *
 * @throws ApiError, or the browser's error if the person gave no passkey; nothing has changed then
 */
export async function signGrant(slug: string, id: string, change: 'activate' | 'revoke'): Promise<Grant> {
  const params = { slug, id }
  const { grant, signing_request } = await request('POST /console/workspaces/:slug/grants/:id/signing-request', {
    params,
    body: { change },
  })
  if (signing_request === null) return grant
  const response = await startAuthentication({ optionsJSON: signing_request.options })
  const input = { params, body: { response } }
  return (await request('POST /console/workspaces/:slug/grants/:id/signature', input)).grant
}

/** The grant allows nothing from this moment on. */
export async function suspendGrant(slug: string, id: string): Promise<Grant> {
  const input = { params: { slug, id }, body: {} }
  return (await request('POST /console/workspaces/:slug/grants/:id/suspend', input)).grant
}
