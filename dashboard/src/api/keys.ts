import type { Output } from '@bursar/server/src/console/contract/all-routes.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { IssuedApiKey, KeyTerms } from '@bursar/server/src/console/contract/keys.ts'
import { request } from './request.ts'

/** Creates an API key. The server requires a recent passkey proof, because a key works longer than the session. */
export async function createKey(slug: string, mode: Mode, terms: KeyTerms): Promise<IssuedApiKey> {
  return await request('POST /console/workspaces/:slug/keys', { params: { slug }, body: { mode, ...terms } })
}

/** Creates a new key with the same name and restrictions. The old key works for another 24 hours. */
export async function rotateKey(slug: string, id: string): Promise<IssuedApiKey> {
  return await request('POST /console/workspaces/:slug/keys/:id/rotate', { params: { slug, id }, body: {} })
}

/** Revokes a key. It stops working immediately. */
export async function revokeKey(slug: string, id: string): Promise<void> {
  await request('POST /console/workspaces/:slug/keys/:id/revoke', { params: { slug, id }, body: {} })
}

export type HeldKeysDecision = Output<'POST /console/workspaces/:slug/held-keys'>

/** Lets the held keys with these ids work again, and revokes the others. The server requires a recent passkey proof. */
export async function confirmHeldKeys(slug: string, confirm: readonly string[]): Promise<HeldKeysDecision> {
  return await request('POST /console/workspaces/:slug/held-keys', {
    params: { slug },
    body: { confirm: [...confirm] },
  })
}
