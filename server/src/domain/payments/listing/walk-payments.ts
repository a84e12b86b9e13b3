import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import type { Payment } from '../payment.ts'
import { listPayments } from './list-payments.ts'
import type { PaymentFilter } from './payment-filter.ts'

const PAGE_PAYMENTS = 1_000
/** Where few pass the filter: so many times `SCAN_ROWS_MAX` rows are looked at. */
const PAGES_MAX = 1_000

/**
 * The payments of (account, mode) that pass a filter, the newest first, page by page, `paymentsMax` at the most. Between
 * two pages it holds nothing: whoever takes no more of them has ended it.
 */
export async function* walkPayments(
  ctx: Pick<Context, 'db'>,
  {
    paymentsMax,
    ...request
  }: {
    readonly accountId: string
    readonly mode: Mode
    readonly filter: PaymentFilter
    readonly paymentsMax: number
  },
): AsyncGenerator<readonly Payment[], undefined> {
  let before: string | null = null
  let left = paymentsMax
  for (let count = 0; count < PAGES_MAX && left > 0; count += 1) {
    const limit = Math.min(PAGE_PAYMENTS, left)
    const page: Awaited<ReturnType<typeof listPayments>> = await listPayments(ctx, { ...request, before, limit })
    yield page.items
    if (page.next === null) return
    left -= page.items.length
    before = page.next
  }
}
