import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { Range } from '@bursar/server/src/console/contract/overview.ts'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

/**
 * How often the overview is fetched again. The chart and the use of the 24-hour limits change with time, even without a
 * payment.
 */
const REFRESH_MS = 60_000

export function overviewQuery(slug: string, mode: Mode, range: Range) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'overview', range],
    queryFn: async ({ signal }) => {
      const input = { params: { slug }, query: { mode, range }, signal }
      return (await request('GET /console/workspaces/:slug/overview', input)).overview
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  })
}

/**
 * What was spent on each host in the last 30 days. A change does not cause a new fetch, because the server's query is
 * slow.
 */
export function hostsQuery(slug: string, mode: Mode) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'hosts', mode],
    queryFn: ({ signal }) =>
      request('GET /console/workspaces/:slug/overview/hosts', { params: { slug }, query: { mode }, signal }),
    refetchInterval: REFRESH_MS,
  })
}
