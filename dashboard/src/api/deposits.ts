import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

/** The deposits to a wallet, the newest first. */
export function depositsQuery(slug: string, mode: Mode, wallet: string) {
  return infiniteQueryOptions({
    queryKey: [...liveKey(slug, mode), 'deposits', wallet],
    queryFn: ({ signal, pageParam }) => {
      const query = { mode, wallet, ...(pageParam === null ? {} : { before: pageParam }) }
      return request('GET /console/workspaces/:slug/deposits', { params: { slug }, query, signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  })
}
