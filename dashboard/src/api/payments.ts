import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { PaymentDetail, PaymentFilter } from '@bursar/server/src/console/contract/payments.ts'
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { pathOf } from './build-path.ts'
import { liveKey } from './changes.ts'
import { request } from './request.ts'

const REFRESH_MS = 4_000

/** The payments that match a filter, newest first, 50 per page. */
export function paymentsQuery(slug: string, mode: Mode, filter: PaymentFilter = {}) {
  return infiniteQueryOptions({
    queryKey: [...liveKey(slug, mode), 'payments', 'list', filter],
    queryFn: ({ signal, pageParam }) => {
      const query = { mode, ...filter, ...(pageParam === null ? {} : { before: pageParam }) }
      return request('GET /console/workspaces/:slug/payments', { params: { slug }, query, signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  })
}

export function paymentQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'payments', 'one', id],
    queryFn: ({ signal }) =>
      request('GET /console/workspaces/:slug/payments/:id', { params: { slug, id }, query: { mode }, signal }),
    // The stream of changes does not announce deliveries. So the payment is fetched again while its status or a
    // delivery may still change.
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? REFRESH_MS : false),
  })
}

/**
 * The path of a CSV file with the payments that match a filter, newest first. The server rejects a filter that matches
 * more than 100,000 payments.
 */
export function paymentsExportPath(slug: string, mode: Mode, filter: PaymentFilter): string {
  return pathOf('GET /console/workspaces/:slug/payments/export', { params: { slug }, query: { mode, ...filter } })
}

/** Payment requests that failed a check. The server keeps them for 30 days. */
export function refusalsQuery(slug: string, mode: Mode, filter: Pick<PaymentFilter, 'agent'> = {}) {
  return infiniteQueryOptions({
    queryKey: [...liveKey(slug, mode), 'refusals', 'list', filter],
    queryFn: ({ signal, pageParam }) => {
      const query = { mode, ...filter, ...(pageParam === null ? {} : { before: pageParam }) }
      return request('GET /console/workspaces/:slug/refusals', { params: { slug }, query, signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  })
}

export function refusalQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'refusals', 'one', id],
    queryFn: async ({ signal }) => {
      const input = { params: { slug, id }, query: { mode }, signal }
      return (await request('GET /console/workspaces/:slug/refusals/:id', input)).refusal
    },
  })
}

function isUnderWay(detail: PaymentDetail | undefined): boolean {
  if (detail === undefined) return false
  const deliveries = detail.events.flatMap((event) => event.deliveries)
  // After a failed attempt, the next attempt follows a minute later at the earliest. That is too long to keep fetching,
  // so a delivery counts here only until its first attempt.
  const isFresh = deliveries.some(({ status, attempt_count }) => status === 'pending' && attempt_count === 0)
  return detail.payment.status === 'pending' || isFresh
}
