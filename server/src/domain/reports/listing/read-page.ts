import type { Context } from '../../context.ts'
import { addPurchases } from '../../purchases/add-purchases.ts'
import type { ListedPayment } from '../../purchases/purchase-summary.ts'
import { toPage, type Page } from '../../../db/bounded-scan.ts'
import { listPaymentRows, type PaymentSelection } from './listing-store.ts'

/** Reads one page of the selected payments, with what they buy. See `listPayments` for `before` and `limit`. */
export async function readPaymentPage(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly selection: PaymentSelection
    readonly before: string | null
    readonly limit: number
    readonly scanRowsMax: number
  },
): Promise<Page<ListedPayment>> {
  const { selection, before, limit, scanRowsMax } = request
  const below = before !== null && before < selection.below ? before : selection.below
  const query = listPaymentRows({ ...selection, below, limit: limit + 1, scanRowsMax })
  const { workspaceId } = selection
  const { items, next } = toPage(await ctx.db.readSlow(query, workspaceId), limit)
  return { items: await addPurchases(ctx, { workspaceId, payments: items }), next }
}
