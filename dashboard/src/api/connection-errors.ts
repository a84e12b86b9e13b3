import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

/**
 * How often the errors are fetched again while they are shown. The stream of changes does not announce them, and a
 * person who connects an application right now waits for them.
 */
const REFRESH_MS = 15_000

/** The last errors of applications that tried to connect or were connected, newest first. */
export function connectionErrorsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'connection-errors'],
    queryFn: async ({ signal }) => {
      const input = { params: { slug }, query: { mode }, signal }
      return (await request('GET /console/workspaces/:slug/connection-errors', input)).errors
    },
    refetchInterval: REFRESH_MS,
  })
}
