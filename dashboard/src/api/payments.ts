import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { liveKey } from './changes.ts'
import { request } from './request.ts'
import type { Mode } from './wire.ts'
import type { PaymentDetail, PaymentPage, PaymentStatus, Refusal, RefusalPage } from './wire-spending.ts'
import { workspacePath } from './workspaces.ts'

const REFRESH_MS = 4_000

/** What a list of payments is narrowed to. */
export interface PaymentFilter {
  /** A payment's id, a transaction's hash, an address, an idempotency key, or a part of a memo. */
  readonly q?: string
  readonly agent?: string
  readonly wallet?: string
  readonly status?: PaymentStatus
  /** ISO 8601: made at this time or later, and before that time. */
  readonly from?: string
  readonly to?: string
}

/** The newest first, 50 a page. */
export function paymentsQuery(slug: string, mode: Mode, filter: PaymentFilter = {}) {
  const query = searchOf(mode, filter)
  return infiniteQueryOptions({
    queryKey: [...liveKey(slug, mode), 'payments', 'list', query],
    queryFn: ({ signal, pageParam }) =>
      request<PaymentPage>('GET', `${workspacePath(slug, 'payments')}?${query}${before(pageParam)}`, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  })
}

export function paymentQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'payments', 'one', id],
    queryFn: ({ signal }) =>
      request<PaymentDetail>('GET', `${workspacePath(slug, 'payments', id)}?mode=${mode}`, { signal }),
    // Its deliveries tell of no change: they are looked after while there is anything to come.
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? REFRESH_MS : false),
  })
}

/** Where the payments of a filter are had as a file: CSV, the newest first. More than 100,000 rows are refused. */
export function paymentsExportPath(slug: string, mode: Mode, filter: PaymentFilter): string {
  return `${workspacePath(slug, 'payments', 'export')}?${searchOf(mode, filter)}`
}

/** Requests that were refused; kept for 30 days. */
export function refusalsQuery(slug: string, mode: Mode, filter: Pick<PaymentFilter, 'agent'> = {}) {
  const query = searchOf(mode, filter)
  return infiniteQueryOptions({
    queryKey: [...liveKey(slug, mode), 'refusals', 'list', query],
    queryFn: ({ signal, pageParam }) =>
      request<RefusalPage>('GET', `${workspacePath(slug, 'refusals')}?${query}${before(pageParam)}`, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  })
}

export function refusalQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    queryKey: [...liveKey(slug, mode), 'refusals', 'one', id],
    queryFn: async ({ signal }) => {
      const path = `${workspacePath(slug, 'refusals', id)}?mode=${mode}`
      return (await request<{ refusal: Refusal }>('GET', path, { signal })).refusal
    },
  })
}

function isUnderWay(detail: PaymentDetail | undefined): boolean {
  if (detail === undefined) return false
  const deliveries = detail.events.flatMap((event) => event.deliveries)
  // A delivery that failed once is tried again after a minute at the earliest.
  const isFresh = deliveries.some(({ status, attempt_count }) => status === 'pending' && attempt_count === 0)
  return detail.payment.status === 'pending' || isFresh
}

function searchOf(mode: Mode, filter: PaymentFilter): string {
  return new URLSearchParams({ mode, ...filter }).toString()
}

function before(next: string | null): string {
  return next === null ? '' : `&before=${encodeURIComponent(next)}`
}
