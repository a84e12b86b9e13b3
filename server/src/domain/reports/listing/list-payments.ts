import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import type { ListedPayment } from '../../purchases/purchase-summary.ts'
import { SCAN_ROWS_MAX, type Page } from '../../../db/bounded-scan.ts'
import type { PaymentFilter } from './payment-filter.ts'
import { readPaymentPage } from './read-page.ts'
import { selectPayments } from './select-payments.ts'

/**
 * Lists the payments of a workspace and mode that match a filter, newest first, and at most `limit` of them. If `before`
 * is a payment's id, lists only older payments. Reads at most `scanRowsMax` rows, so a page can be short although more
 * payments match. The `next` of the result is the `before` of the following page. A search for an id or an idempotency
 * key finds its payment without scanning, however old the payment is.
 */
export async function listPayments(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly filter: PaymentFilter
    readonly before: string | null
    readonly limit: number
    readonly scanRowsMax?: number
  },
): Promise<Page<ListedPayment>> {
  const { before, limit, scanRowsMax = SCAN_ROWS_MAX } = request
  return await readPaymentPage(ctx, { selection: await selectPayments(ctx, request), before, limit, scanRowsMax })
}
