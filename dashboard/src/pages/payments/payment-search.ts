import type { PaymentFilter, PaymentStatus } from '@bursar/server/src/console/contract/payments.ts'
import { parseDayRange } from '../../format/day-range.ts'
import { withParam } from '../../navigation/with-param.ts'

/** The views of the payments page. Rejected requests are not payments and have their own list. */
export const PAYMENT_VIEWS = ['all', 'confirmed', 'pending', 'failed'] as const
const VIEWS = [...PAYMENT_VIEWS, 'refused'] as const
export type View = (typeof VIEWS)[number]

/** The kinds of payments to filter by, in the order in which they are shown. `undelivered` is a subset of `x402`. */
const KINDS = ['transfer', 'x402', 'undelivered', 'withdrawal'] as const satisfies readonly PaymentFilter['kind'][]
export type KindFilter = (typeof KINDS)[number]

/** The filters in the URL of the payments page. */
export interface PaymentSearch {
  readonly view: View
  readonly filter: PaymentFilter
  /** The values of the date fields: days in the user's time zone, or empty. */
  readonly fromDay: string
  readonly toDay: string
  /** Whether there are filters besides the view. */
  readonly isFiltered: boolean
}

/** Parses the URL. Invalid parameters are ignored. */
export function parsePaymentSearch(search: URLSearchParams): PaymentSearch {
  const view = VIEWS.find((candidate) => candidate === search.get('status')) ?? 'all'
  const text = (name: string) => search.get(name)?.trim() ?? ''
  const { from, to, fromDay, toDay } = parseDayRange(search)
  const kind = KINDS.find((candidate) => candidate === text('kind')) ?? ''
  const wanted = { q: text('q'), kind, agent: text('agent'), wallet: text('wallet'), from, to }
  const given = Object.entries(wanted).filter(
    ([name, value]) => value !== '' && (view !== 'refused' || name === 'agent'),
  )
  const status: { readonly status?: PaymentStatus } = view === 'all' || view === 'refused' ? {} : { status: view }
  return {
    view,
    filter: { ...Object.fromEntries(given), ...status },
    fromDay,
    toDay,
    isFiltered: given.length > 0,
  }
}

/** The parameters for another view with the same filters. */
export function withView(search: URLSearchParams, view: View): URLSearchParams {
  return withParam(search, 'status', view === 'all' ? '' : view)
}
