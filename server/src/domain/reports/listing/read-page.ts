import type { Context } from '../../context.ts'
import type { Payment } from '../../payments/payment.ts'
import { toPage, type Page } from '../../../db/bounded-scan.ts'
import { listPaymentRows, type PaymentSelection } from './listing-store.ts'

/** Reads one page of the selected payments. See `listPayments` for `before` and `limit`. */
export async function readPage(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly selection: PaymentSelection
    readonly before: string | null
    readonly limit: number
    readonly scanRowsMax: number
  },
): Promise<Page<Payment>> {
  const { selection, before, limit, scanRowsMax } = request
  const below = before !== null && before < selection.below ? before : selection.below
  const query = listPaymentRows({ ...selection, below, limit: limit + 1, scanRowsMax })
  return toPage(await ctx.db.runSlow(query, selection.accountId), limit)
}
