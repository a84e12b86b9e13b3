import type { EventEnvelope } from '@bursar/server/src/console/contract/events.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

export interface EventFilter {
  readonly type?: EventEnvelope['type']
}

export function eventsQuery(slug: string, mode: Mode, filter: EventFilter) {
  return infiniteQueryOptions({
    queryKey: [...liveKey(slug, mode), 'events', filter],
    queryFn: ({ signal, pageParam }) => {
      const query = { mode, ...filter, ...(pageParam === null ? {} : { before: pageParam }) }
      return request('GET /console/workspaces/:slug/events', { params: { slug }, query, signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  })
}

export function eventQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'events', id],
    queryFn: ({ signal }) =>
      request('GET /console/workspaces/:slug/events/:id', { params: { slug, id }, query: { mode }, signal }),
  })
}
