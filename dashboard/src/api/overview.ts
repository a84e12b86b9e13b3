import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { Overview, Range } from './wire-spending.ts'
import { workspacePath } from './workspaces.ts'

/** Time alone moves the chart and empties the windows of the caps. */
const REFRESH_MS = 60_000

export function overviewQuery(slug: string, mode: Mode, range: Range) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'overview', range],
    queryFn: async ({ signal }) => {
      const path = `${workspacePath(slug, 'overview')}?mode=${mode}&range=${range}`
      return (await request<{ overview: Overview }>('GET', path, { signal })).overview
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })
}
