import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import type { Payment } from '../../payments/payment.ts'
import { SCAN_ROWS_MAX, type Page } from '../../../db/bounded-scan.ts'
import type { PaymentFilter } from './payment-filter.ts'
import { readPage } from './read-page.ts'
import { selectPayments } from './select-payments.ts'

/**
 * Lists the payments of an account and mode that match a filter, newest first: at most `limit`, those before the payment
 * `before` if it is given. Reads at most `scanRowsMax` rows; `next` continues after the last one that was read. A search
 * for an id or an idempotency key finds its payment at once, however old it is.
 */
export async function listPayments(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly accountId: string
    readonly mode: Mode
    readonly filter: PaymentFilter
    readonly before: string | null
    readonly limit: number
    readonly scanRowsMax?: number
  },
): Promise<Page<Payment>> {
  const { before, limit, scanRowsMax = SCAN_ROWS_MAX } = request
  return await readPage(ctx, { selection: await selectPayments(ctx, request), before, limit, scanRowsMax })
}
