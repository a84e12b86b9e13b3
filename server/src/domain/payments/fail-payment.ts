import type { Context } from '../context.ts'
import { addToAllowance } from '../plans/plans-store.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { getPayment } from './get-payment.ts'
import type { FailureCode, Payment } from './payment.ts'
import { paymentEvent } from './payment-event.ts'
import { markFailed } from './payments-store.ts'

/** The enclave had accepted these payments, so they count in the month's allowance although they failed (D27). */
const ACCEPTED_FAILURES: readonly FailureCode[] = ['reverted', 'transfer_missing', 'never_mined', 'replaced']

/**
 * Moves a pending payment to failed, exactly once and with its event. A failed payment counts neither in the cap nor
 * against the balance. If the enclave never accepted it, it no longer counts in the allowance either (D24). Returns the
 * payment as it is recorded if another process moved it first.
 */
export async function failPayment(
  ctx: Pick<Context, 'db' | 'clock'>,
  { payment, code }: { payment: Payment; code: FailureCode },
): Promise<Payment> {
  const failed = await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const moved = await transaction.run(markFailed(payment, code, now))
    if (moved === null) return null
    const month = ACCEPTED_FAILURES.includes(code) ? null : moved.allowanceMonth
    await transaction.commit([
      ...appendEvent(paymentEvent('payment.failed', moved, now)),
      ...(month === null ? [] : [addToAllowance(moved.accountId, month, -1)]),
    ])
    return moved
  })
  return failed ?? (await getPayment(ctx, payment))
}
