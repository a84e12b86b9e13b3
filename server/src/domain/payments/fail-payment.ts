import { addToAllowance } from '../plans/plans-store.ts'
import { endPayment, type EndContext } from './end-payment.ts'
import type { FailureCode, Payment } from './payment.ts'
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
  ctx: EndContext,
  { payment, code, block = null }: { payment: Payment; code: FailureCode; block?: MinedBlock | null },
): Promise<Payment> {
  const isAccepted = ACCEPTED_FAILURES.includes(code)
  return await endPayment(
    ctx,
    payment,
    (now) => markFailed(payment, code, now, block),
    ({ workspaceId, allowanceMonth: month }) =>
      isAccepted || month === null ? [] : [addToAllowance(workspaceId, month, -1)],
  )
}
