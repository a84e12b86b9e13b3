import type { Context } from '../context.ts'
import { resumePayment } from '../payments/resume-payment.ts'
import { withRecordedOutcome } from '../payments/with-recorded-outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { mayPayAs, type PaymentRequest } from './payment-request.ts'
import { findPaymentByKey } from '../payments/payments-store.ts'

/**
 * Returns the payment that already has this idempotency key. If its outcome is still unknown, it is resumed first (D21,
 * D23). Returns null if no payment has the key, or if the request has no key.
 */
export async function replayPayment(
  ctx: Context,
  request: Pick<PaymentRequest, 'workspaceId' | 'mode' | 'idempotencyKey' | 'boundAgentId'>,
): Promise<Payment | null> {
  const { workspaceId, mode, idempotencyKey } = request
  if (idempotencyKey === null) return null
  const payment = await ctx.db.read(findPaymentByKey(workspaceId, mode, idempotencyKey))
  return payment === null ? null : await resumeIfAuthorized(ctx, payment, request)
}

/**
 * Resumes a payment if the credential may pay as the payment's agent, and returns it. For any other credential, returns
 * the recorded payment unchanged: the credential may read every payment of the workspace, but must not cause a
 * signature (D25).
 */
export async function resumeIfAuthorized(
  ctx: Context,
  payment: Payment,
  credential: Pick<PaymentRequest, 'boundAgentId'>,
): Promise<Payment> {
  // A purchase is resumed only by another request for the same purchase.
  if (payment.kind !== 'transfer' || !mayPayAs(credential, payment.agentId)) return payment
  return await withRecordedOutcome(resumePayment(ctx, payment), payment)
}
