import type { Context } from '../context.ts'
import { resumePayment } from './resume-payment.ts'
import { withRecordedOutcome } from './with-recorded-outcome.ts'
import type { Payment } from './payment.ts'
import { mayPayAs, type PaymentRequest } from './payment-request.ts'
import { findPaymentByKey } from './payments-store.ts'

/**
 * Returns the payment that already has this idempotency key, resumed if its outcome is still unknown (D21, D23). Returns
 * null if there is none, or if the request has no key.
 */
export async function replayPayment(
  ctx: Context,
  request: Pick<PaymentRequest, 'accountId' | 'mode' | 'idempotencyKey' | 'boundAgentId'>,
): Promise<Payment | null> {
  const { accountId, mode, idempotencyKey } = request
  if (idempotencyKey === null) return null
  const payment = await ctx.db.runRelaxed(findPaymentByKey(accountId, mode, idempotencyKey))
  return payment === null ? null : await resumeIfAuthorized(ctx, payment, request)
}

/**
 * Resumes a payment if the credential may pay as its agent. Any other credential gets the payment as it is recorded: it
 * may read every payment of the workspace, but must not cause a signature (D25).
 */
export async function resumeIfAuthorized(
  ctx: Context,
  payment: Payment,
  credential: Pick<PaymentRequest, 'boundAgentId'>,
): Promise<Payment> {
  if (!mayPayAs(credential, payment.agentId)) return payment
  return await withRecordedOutcome(resumePayment(ctx, payment))
}
