import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

export function connectionsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'connections'],
    queryFn: async ({ signal }) => {
      const input = { params: { slug }, query: { mode }, signal }
      return (await request('GET /console/workspaces/:slug/connections', input)).connections
    },
  })
}

/** Ends a connection. Its tokens stop working immediately. */
export async function disconnect(slug: string, id: string): Promise<void> {
  await request('DELETE /console/workspaces/:slug/connections/:id', { params: { slug, id } })
}

/**
 * An application's request to be connected. It can be decided only once, so it is not cached after the user leaves the
 * page.
 */
export function authorizationRequestQuery(handle: string) {
  return queryOptions({
    queryKey: ['authorization-request', handle],
    queryFn: async ({ signal }) =>
      (await request('GET /console/authorization-requests/:handle', { params: { handle }, signal })).request,
    staleTime: 0,
    gcTime: 0,
  })
}
