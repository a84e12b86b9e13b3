import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { EventDetail, EventPage } from './wire-developers.ts'
import { workspacePath } from './workspaces.ts'

export function eventsQuery(slug: string, mode: Mode, filter: { readonly type?: string }) {
  return infiniteQueryOptions({
    queryKey: [...liveKey(slug, mode), 'events', filter],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({ mode, ...filter, ...(pageParam === null ? {} : { before: pageParam }) })
      return request<EventPage>('GET', `${workspacePath(slug, 'events')}?${query}`, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  })
}

export function eventQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'events', id],
    queryFn: ({ signal }) =>
      request<EventDetail>('GET', `${workspacePath(slug, 'events', id)}?mode=${mode}`, { signal }),
  })
}
