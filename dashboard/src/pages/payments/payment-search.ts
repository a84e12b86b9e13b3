import type { PaymentFilter, PaymentStatus } from '@bursar/server/src/console/contract/payments.ts'

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
  const [from, to] = [readTime(text('from'), 0), readTime(text('to'), 1)]
  const kind = KINDS.find((candidate) => candidate === text('kind')) ?? ''
  const range = { from: toIso(from), to: toIso(to) }
  const wanted = { q: text('q'), kind, agent: text('agent'), wallet: text('wallet'), ...range }
  const given = Object.entries(wanted).filter(
    ([name, value]) => value !== '' && (view !== 'refused' || name === 'agent'),
  )
  const status: { readonly status?: PaymentStatus } = view === 'all' || view === 'refused' ? {} : { status: view }
  return {
    view,
    filter: { ...Object.fromEntries(given), ...status },
    fromDay: from === null ? '' : formatDay(from),
    toDay: to === null ? '' : formatDay(new Date(to.getTime() - 1)),
    isFiltered: given.length > 0,
  }
}

/** The parameters with one value changed. An empty value removes the parameter. */
export function withParam(search: URLSearchParams, name: string, value: string): URLSearchParams {
  const changed = new URLSearchParams(search)
  if (value === '') changed.delete(name)
  else changed.set(name, value)
  return changed
}

/** The parameters for another view with the same filters. */
export function withView(search: URLSearchParams, view: View): URLSearchParams {
  return withParam(search, 'status', view === 'all' ? '' : view)
}

const DAY_PATTERN = /^(\d{4})-(\d\d)-(\d\d)$/

/**
 * Parses an exact time, or a day in the user's time zone. A day becomes the time of its start, or of its end if
 * `daysLater` is 1.
 */
function readTime(text: string, daysLater: 0 | 1): Date | null {
  const [, year, month, day] = DAY_PATTERN.exec(text) ?? []
  const isDay = year !== undefined && month !== undefined && day !== undefined
  const at = isDay ? new Date(Number(year), Number(month) - 1, Number(day) + daysLater) : new Date(text)
  return Number.isNaN(at.getTime()) ? null : at
}

function toIso(at: Date | null): string {
  return at?.toISOString() ?? ''
}

function formatDay(at: Date): string {
  const parts = [at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0'))
  return [String(at.getFullYear()).padStart(4, '0'), ...parts].join('-')
}
