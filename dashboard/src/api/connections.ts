import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { AuthorizationRequest, Connection, Mode } from './wire.ts'
import { workspacePath } from './workspaces.ts'

export function connectionsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'connections'],
    queryFn: async ({ signal }) => {
      const path = `${workspacePath(slug, 'connections')}?mode=${mode}`
      return (await request<{ connections: readonly Connection[] }>('GET', path, { signal })).connections
    },
  })
}

/** Ends a connection: its tokens are worth nothing from this moment on. */
export async function disconnect(slug: string, id: string): Promise<void> {
  await request('DELETE', workspacePath(slug, 'connections', id))
}

/** What an application asks for. It is answered once, so nothing of it is kept beyond the page. */
export function authorizationRequestQuery(handle: string) {
  return queryOptions({
    queryKey: ['authorization-request', handle],
    queryFn: async ({ signal }) => {
      const path = `/console/authorization-requests/${encodeURIComponent(handle)}`
      return (await request<{ request: AuthorizationRequest }>('GET', path, { signal })).request
    },
    staleTime: 0,
    gcTime: 0,
  })
}
