import { infiniteQueryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { DepositPage } from './wire-spending.ts'
import { workspacePath } from './workspaces.ts'

/** What came in to a wallet, the latest first. */
export function depositsQuery(slug: string, mode: Mode, wallet: string) {
  return infiniteQueryOptions({
    queryKey: [...liveKey(slug, mode), 'deposits', wallet],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({ mode, wallet })
      if (pageParam !== null) query.set('before', pageParam)
      return request<DepositPage>('GET', `${workspacePath(slug, 'deposits')}?${query}`, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  })
}
