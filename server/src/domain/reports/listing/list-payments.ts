import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import type { ListedPayment } from '../../purchases/purchase-summary.ts'
import { SCAN_ROWS_MAX, type Page } from '../../../db/bounded-scan.ts'
import type { PaymentFilter } from './payment-filter.ts'
import type { PaymentSort } from './payment-order.ts'
import { readFurther, readPaymentPage } from './read-page.ts'
import { selectPayments } from './select-payments.ts'

/** A page of payments, and more matches that the page did not reach. */
export interface PaymentPage extends Page<ListedPayment> {
  /**
   * Payments in the part of the list that was not read yet, which indexes found by the recipient, the amount, or the
   * address or hash. They appear again when the following pages reach them.
   */
  readonly further: readonly ListedPayment[]
}

/**
 * Lists the payments of a workspace and mode that match a filter, at most `limit` of them, by default newest first.
 * `before` is the `next` of the page before. Reads at most `scanRowsMax` rows, so a page can be short although more
 * payments match. An id, an idempotency key, an amount, a hash, and the name or address of a recipient are found
 * without reading the list, however old the payment is.
 */
export async function listPayments(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly filter: PaymentFilter
    readonly sort?: PaymentSort
    readonly before: string | null
    readonly limit: number
    readonly scanRowsMax?: number
  },
): Promise<PaymentPage> {
  const { before, limit, sort = 'newest', scanRowsMax = SCAN_ROWS_MAX } = request
  const pageRequest = { selected: await selectPayments(ctx, request), sort, before, limit, scanRowsMax }
  const page = await readPaymentPage(ctx, pageRequest)
  return { ...page, further: await readFurther(ctx, pageRequest, page) }
}
