import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import type { Payment } from '../../payments/payment.ts'
import { SCAN_ROWS_MAX, type Page } from '../../../db/bounded-scan.ts'
import type { PaymentFilter } from './payment-filter.ts'
import { readPage } from './read-page.ts'
import { selectPayments } from './select-payments.ts'

/**
 * The payments of (account, mode) that pass a filter, the newest first, `limit` at the most, before the payment `before`
 * where one is given. At most `scanRowsMax` are looked at: `next` then goes on behind the last. An id or an
 * idempotency key that is searched for is found at once, wherever it stands.
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
