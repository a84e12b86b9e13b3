import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { Delivery, DeliveryDetail, DeliveryPage } from './wire-developers.ts'
import { workspacePath } from './workspaces.ts'

/** While a delivery waits for its next attempt, it is looked at this often: no live change tells of it. */
const PENDING_REFRESH_MS = 2_000
/** A list is read anew more slowly, and while one of its deliveries is pending only. */
const LIST_REFRESH_MS = 5_000

export interface DeliveryFilter {
  readonly webhook?: string
  readonly status?: string
  readonly type?: string
}

export function deliveriesQuery(slug: string, mode: Mode, filter: DeliveryFilter) {
  return infiniteQueryOptions({
    queryKey: [...deliveriesKey(slug, mode), filter],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({ mode, ...filter, ...(pageParam === null ? {} : { before: pageParam }) })
      return request<DeliveryPage>('GET', `${workspacePath(slug, 'deliveries')}?${query}`, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.deliveries.some(isPending)) === true && LIST_REFRESH_MS,
  })
}

export function deliveryQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...deliveriesKey(slug, mode), id],
    queryFn: ({ signal }) => request<DeliveryDetail>('GET', workspacePath(slug, 'deliveries', id), { signal }),
    refetchInterval: ({ state }) => state.data !== undefined && isPending(state.data.delivery) && PENDING_REFRESH_MS,
  })
}

/** Sends a delivery's event to the same address once more, as a delivery of its own. */
export async function replayDelivery(slug: string, id: string): Promise<Delivery> {
  const path = workspacePath(slug, 'deliveries', id, 'replay')
  return (await request<{ delivery: Delivery }>('POST', path, { body: {} })).delivery
}

/** The beginning of the key of every query of deliveries. */
export function deliveriesKey(slug: string, mode: Mode) {
  return [...liveKey(slug, mode), 'deliveries'] as const
}

function isPending({ status }: Delivery): boolean {
  return status === 'pending'
}
