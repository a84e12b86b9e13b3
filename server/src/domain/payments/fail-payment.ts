import type { Transaction } from '../../db/transaction.ts'
import type { Context } from '../context.ts'
import { addToAllowance } from '../plans/plans-store.ts'
import { getPayment } from './get-payment.ts'
import type { FailureCode, Payment } from './payment.ts'
import { appendEnd } from './append-end.ts'
import { markFailed, type MinedBlock } from './payments-store.ts'

/**
 * Payments that fail with these codes had been accepted by the enclave, so they still count against the month's
 * allowance (D27).
 */
const ACCEPTED_FAILURES: readonly FailureCode[] = ['reverted', 'transfer_missing', 'replaced']

/**
 * Moves a pending payment to `failed`, exactly once, and reports it in the same transaction. A failed payment no
 * longer counts towards the daily cap or reserves balance. If the enclave never accepted the payment, it no longer
 * counts against the monthly allowance either (D24). If another process has already moved the payment, nothing is
 * changed and the recorded payment is returned. `block` contains the transaction that failed, if one did.
 */
export async function failPayment(
  ctx: Pick<Context, 'db' | 'clock'>,
  { payment, code, block = null }: { payment: Payment; code: FailureCode; block?: MinedBlock | null },
): Promise<Payment> {
  const fail = async (transaction: Transaction): Promise<Payment | null> => {
    const now = ctx.clock.now()
    const moved = await transaction.run(markFailed(payment, code, now, block))
    if (moved === null) return null
    const month = ACCEPTED_FAILURES.includes(code) ? null : moved.allowanceMonth
    await transaction.commit([
      ...appendEnd(moved, now),
      ...(month === null ? [] : [addToAllowance(moved.workspaceId, month, -1)]),
    ])
    return moved
  }
  const failed = await ctx.db.transaction(fail, { isOutcome: true })
  return failed ?? (await getPayment(ctx, payment))
}
