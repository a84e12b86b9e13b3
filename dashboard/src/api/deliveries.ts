import type { Delivery, DeliveryQuery } from '@bursar/server/src/console/contract/deliveries.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

/** How often a pending delivery is fetched again, because the stream of changes does not announce attempts. */
const PENDING_REFRESH_MS = 2_000
/** How often a list of deliveries is fetched again while one of them is pending. */
const LIST_REFRESH_MS = 5_000

export type DeliveryFilter = Readonly<Pick<DeliveryQuery, 'webhook' | 'status' | 'type'>>

export function deliveriesQuery(slug: string, mode: Mode, filter: DeliveryFilter) {
  return infiniteQueryOptions({
    queryKey: [...deliveriesKey(slug, mode), filter],
    queryFn: ({ signal, pageParam }) => {
      const query = { mode, ...filter, ...(pageParam === null ? {} : { before: pageParam }) }
      return request('GET /console/workspaces/:slug/deliveries', { params: { slug }, query, signal })
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
    queryFn: ({ signal }) => request('GET /console/workspaces/:slug/deliveries/:id', { params: { slug, id }, signal }),
    refetchInterval: ({ state }) => state.data !== undefined && isPending(state.data.delivery) && PENDING_REFRESH_MS,
  })
}

/** Sends a delivery's event to the same address again, as a new delivery. */
export async function replayDelivery(slug: string, id: string): Promise<Delivery> {
  const input = { params: { slug, id }, body: {} }
  return (await request('POST /console/workspaces/:slug/deliveries/:id/replay', input)).delivery
}

/** The beginning of the key of every query for deliveries. */
export function deliveriesKey(slug: string, mode: Mode) {
  return [...liveKey(slug, mode), 'deliveries'] as const
}

function isPending({ status }: Delivery): boolean {
  return status === 'pending'
}
