import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Grant, GrantTerms } from '@bursar/server/src/console/contract/grants.ts'
import type { SignerWindow } from '../signer/signer-window.ts'
import { signRequest, type SignedWallet } from './owners.ts'
import { request } from './request.ts'

interface NewGrant extends GrantTerms {
  readonly mode: Mode
  readonly agent_id: string
  readonly wallet: string
}

/** Creates a grant. It allows nothing until the wallet's owner has signed it. */
export async function createGrant(slug: string, grant: NewGrant): Promise<Grant> {
  return (await request('POST /console/workspaces/:slug/grants', { params: { slug }, body: grant })).grant
}

/** Creates a grant that will replace the grant `id` once the wallet's owner has signed it. */
export async function prepareReplacement(slug: string, id: string, terms: GrantTerms): Promise<Grant> {
  const input = { params: { slug, id }, body: terms }
  return (await request('POST /console/workspaces/:slug/grants/:id/replacement', input)).grant
}

export type GrantChange = 'activate' | 'revoke'

/**
 * Signs a change to a grant in the signer window, with a passkey that owns its wallet. Every call asks the server for a
 * new signing request, so a user whose signing request has expired only needs to click again.
 *
 * @throws ApiError. Throws SignerError if the user did not sign. Then nothing has changed.
 */
export async function signGrant(
  signer: SignerWindow,
  wallet: SignedWallet,
  { id, change }: { readonly id: string; readonly change: GrantChange },
): Promise<Grant> {
  const params = { slug: wallet.slug, id }
  const { grant, signing_request } = await requestSignature(params, change)
  if (signing_request === null) return grant
  const response = await signRequest(signer, signing_request, wallet)
  const input = { params, body: { response } }
  return (await request('POST /console/workspaces/:slug/grants/:id/signature', input)).grant
}

/** Discards a pending grant. This needs no signature. */
export async function discardGrant(slug: string, id: string): Promise<Grant> {
  return (await requestSignature({ slug, id }, 'revoke')).grant
}

async function requestSignature(params: { readonly slug: string; readonly id: string }, change: GrantChange) {
  return await request('POST /console/workspaces/:slug/grants/:id/signing-request', { params, body: { change } })
}

/** Suspends a grant. It allows no payments from this moment on. */
export async function suspendGrant(slug: string, id: string): Promise<Grant> {
  const input = { params: { slug, id }, body: {} }
  return (await request('POST /console/workspaces/:slug/grants/:id/suspend', input)).grant
}
