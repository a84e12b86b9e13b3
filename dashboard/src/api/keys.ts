import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { ApiKey, IssuedApiKey } from './wire-developers.ts'
import { workspacePath } from './workspaces.ts'

export function keysQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'keys'],
    queryFn: async ({ signal }) =>
      (await request<{ keys: readonly ApiKey[] }>('GET', `${workspacePath(slug, 'keys')}?mode=${mode}`, { signal }))
        .keys,
  })
}

/** A key outlives the session: the passkey is asked for. */
export async function createKey(slug: string, mode: Mode, name: string): Promise<IssuedApiKey> {
  return await request<IssuedApiKey>('POST', workspacePath(slug, 'keys'), { body: { mode, name } })
}

/** A new secret for the same name; the old one authenticates for 24 hours more. */
export async function rotateKey(slug: string, id: string): Promise<IssuedApiKey> {
  return await request<IssuedApiKey>('POST', workspacePath(slug, 'keys', id, 'rotate'), { body: {} })
}

/** Ends a key at once. */
export async function revokeKey(slug: string, id: string): Promise<void> {
  await request('POST', workspacePath(slug, 'keys', id, 'revoke'), { body: {} })
}
