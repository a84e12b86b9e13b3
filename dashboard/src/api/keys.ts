import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { IssuedApiKey } from '@bursar/server/src/console/contract/keys.ts'
import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

export function keysQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'keys'],
    queryFn: async ({ signal }) => {
      const input = { params: { slug }, query: { mode }, signal }
      return (await request('GET /console/workspaces/:slug/keys', input)).keys
    },
  })
}

/** The person is asked for their passkey, because a key outlives the session. */
export async function createKey(slug: string, mode: Mode, name: string): Promise<IssuedApiKey> {
  return await request('POST /console/workspaces/:slug/keys', { params: { slug }, body: { mode, name } })
}

/** Issues a new key of the same name. The old one authenticates for another 24 hours. */
export async function rotateKey(slug: string, id: string): Promise<IssuedApiKey> {
  return await request('POST /console/workspaces/:slug/keys/:id/rotate', { params: { slug, id }, body: {} })
}

/** Ends a key at once. */
export async function revokeKey(slug: string, id: string): Promise<void> {
  await request('POST /console/workspaces/:slug/keys/:id/revoke', { params: { slug, id }, body: {} })
}
