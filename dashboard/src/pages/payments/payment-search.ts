import type { PaymentFilter, PaymentSort, PaymentStatus } from '@bursar/server/src/console/contract/payments.ts'
import type { RefusalFilter } from '@bursar/server/src/console/contract/refusals.ts'
import { REFUSAL_REASONS } from '@bursar/server/src/values/refusal-reasons.ts'
import { formatViewQuery } from '@bursar/server/src/values/view-query.ts'
import { FAILURE_REASONS, isFailureCode } from '../../format/failure-reasons.ts'
import { parseDayRange } from '../../format/day-range.ts'
import { withParam } from '../../navigation/with-param.ts'

/** The views of the payments page. Rejected requests are not payments and have their own list. */
export const PAYMENT_VIEWS = ['all', 'confirmed', 'pending', 'failed'] as const
const VIEWS = [...PAYMENT_VIEWS, 'refused'] as const
export type View = (typeof VIEWS)[number]

/** The kinds of payments to filter by, in the order in which they are shown. `undelivered` is a subset of `x402`. */
const KINDS = ['transfer', 'x402', 'undelivered', 'withdrawal'] as const satisfies readonly PaymentFilter['kind'][]
export type KindFilter = (typeof KINDS)[number]

export const SORTS = ['newest', 'oldest', 'largest', 'smallest'] as const satisfies readonly PaymentSort[]

/** The filters in the URL of the payments page. */
export interface PaymentSearch {
  readonly view: View
  /** The filter of the payments. It is not used in the view of rejected requests. */
  readonly filter: PaymentFilter
  readonly sort: PaymentSort
  /** The filter of the rejected requests. */
  readonly refusals: RefusalFilter
  /** The filters as the fields show them. Days are in the user's time zone. A field without a filter is empty. */
  readonly fields: Readonly<Record<FieldName, string>>
  /** How many fields of the view have a filter, without the search. */
  readonly filterCount: number
  /** Whether there are filters besides the view. */
  readonly isFiltered: boolean
  /** The filters and the order in the form in which a saved view stores them. */
  readonly query: string
}

/** The conditions that both lists share. `kind` and `sort` are for payments only, `group` for rejected requests. */
const SHARED = ['agent', 'wallet', 'recipient', 'reason', 'min', 'max', 'from', 'to'] as const
export type FieldName = 'q' | 'kind' | (typeof SHARED)[number]

const AMOUNT_PATTERN = /^(?!0(?:\.0*)?$)(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/

/** Parses the URL. Invalid parameters are ignored. */
export function parsePaymentSearch(search: URLSearchParams): PaymentSearch {
  const view = VIEWS.find((candidate) => candidate === search.get('status')) ?? 'all'
  const isRefused = view === 'refused'
  const text = (name: string) => search.get(name)?.trim() ?? ''
  const amount = (name: string) => (AMOUNT_PATTERN.test(text(name)) ? text(name) : '')
  const { from, to, fromDay, toDay } = parseDayRange(search)
  const kind = isRefused ? undefined : KINDS.find((candidate) => candidate === text('kind'))
  const reason = text('reason')
  const failure = isFailureCode(reason) && !isRefused ? reason : undefined
  const refusal = isRefused && reason in REFUSAL_REASONS ? reason : undefined
  const shared = given({
    ...{ q: text('q'), agent: text('agent'), wallet: text('wallet'), recipient: text('recipient') },
    ...{ min: amount('min'), max: amount('max'), from, to },
  })
  const status: { readonly status?: PaymentStatus } = view === 'all' || view === 'refused' ? {} : { status: view }
  const fields = {
    ...{ q: shared.q ?? '', kind: kind ?? '', agent: shared.agent ?? '', wallet: shared.wallet ?? '' },
    ...{ recipient: shared.recipient ?? '', reason: failure ?? refusal ?? '' },
    ...{ min: shared.min ?? '', max: shared.max ?? '' },
    from: fromDay,
    to: toDay,
  }
  const set = Object.entries(fields).filter(([, value]) => value !== '')
  return {
    view,
    filter: {
      ...shared,
      ...status,
      ...(kind === undefined ? {} : { kind }),
      ...(failure === undefined ? {} : { reason: failure }),
    },
    sort: SORTS.find((candidate) => candidate === text('sort')) ?? 'newest',
    refusals: {
      ...shared,
      ...(refusal === undefined ? {} : { reason: refusal }),
      ...(text('group') === 'none' ? { group: 'none' } : {}),
    },
    fields,
    filterCount: set.filter(([name]) => name !== 'q').length,
    isFiltered: set.length > 0,
    query: formatViewQuery(search),
  }
}

type Shared = Pick<PaymentFilter, 'q' | 'agent' | 'wallet' | 'recipient' | 'min' | 'max' | 'from' | 'to'>

/** Leaves out the conditions that are empty. */
function given(conditions: { readonly [Name in keyof Shared]-?: string }): Shared {
  return Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== ''))
}

/** The parameters for another view with the same filters. Each view has reasons of its own. */
export function withView(search: URLSearchParams, view: View): URLSearchParams {
  return withParam(withParam(search, 'status', view === 'all' ? '' : view), 'reason', '')
}

/** The parameters without the filters. The view, the search and the order stay. */
export function withoutFilters(search: URLSearchParams): URLSearchParams {
  return (['kind', ...SHARED] as const).reduce((changed, name) => withParam(changed, name, ''), search)
}

/** The reasons to choose from in a view, by their code. Empty for a view without reasons. */
export function reasonsOf(view: View): Readonly<Record<string, string>> {
  if (view === 'refused') return REFUSAL_REASONS
  return view === 'all' || view === 'failed' ? FAILURE_REASONS : {}
}
