import type { PaymentFilter } from '../../api/payments.ts'
import type { PaymentStatus } from '../../api/wire-spending.ts'

/** The lists that the page can show. What was refused is no payment, and has a list of its own. */
export const PAYMENT_VIEWS = ['all', 'confirmed', 'pending', 'failed'] as const
const VIEWS = [...PAYMENT_VIEWS, 'refused'] as const
export type View = (typeof VIEWS)[number]

/** What the page's address narrows the list to. */
export interface PaymentSearch {
  readonly view: View
  readonly filter: PaymentFilter
  /** As they stand in the date fields: days of the reader's zone, or empty. */
  readonly fromDay: string
  readonly toDay: string
  /** The list is narrowed by more than its view. */
  readonly isNarrowed: boolean
}

/** Reads the address. What makes no sense in it is passed over. */
export function parsePaymentSearch(search: URLSearchParams): PaymentSearch {
  const view = VIEWS.find((candidate) => candidate === search.get('status')) ?? 'all'
  const text = (name: string) => search.get(name)?.trim() ?? ''
  const [from, to] = [readTime(text('from'), 0), readTime(text('to'), 1)]
  const wanted = { q: text('q'), agent: text('agent'), wallet: text('wallet'), from: toIso(from), to: toIso(to) }
  const given = Object.entries(wanted).filter(
    ([name, value]) => value !== '' && (view !== 'refused' || name === 'agent'),
  )
  const status: { readonly status?: PaymentStatus } = view === 'all' || view === 'refused' ? {} : { status: view }
  return {
    view,
    filter: { ...Object.fromEntries(given), ...status },
    fromDay: from === null ? '' : formatDay(from),
    toDay: to === null ? '' : formatDay(new Date(to.getTime() - 1)),
    isNarrowed: given.length > 0,
  }
}

/** The address with one thing changed; what is empty leaves it. */
export function withParam(search: URLSearchParams, name: string, value: string): URLSearchParams {
  const changed = new URLSearchParams(search)
  if (value === '') changed.delete(name)
  else changed.set(name, value)
  return changed
}

/** The address of another list, narrowed as before. */
export function withView(search: URLSearchParams, view: View): URLSearchParams {
  return withParam(search, 'status', view === 'all' ? '' : view)
}

const DAY_PATTERN = /^(\d{4})-(\d\d)-(\d\d)$/

/** A day of the reader's zone, where it begins or, `daysLater` 1, where it ends; or an exact time. */
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
