import type { Context } from '../context.ts'
import { reserveRequest } from './reserve-request.ts'
import { resumePayment } from '../payments/resume-payment.ts'
import { recordAcceptance } from '../payments/record-acceptance.ts'
import { withRecordedOutcome } from '../payments/with-recorded-outcome.ts'
import { recordRefusal } from '../refusals/record-refusal.ts'
import type { Payment } from '../payments/payment.ts'
import { mayPayAs, type PaymentRequest } from './payment-request.ts'
import { replayPayment, resumeIfAuthorized } from './replay-payment.ts'
import { submitPayment } from '../payments/submit-payment.ts'
import type { SigningParties } from '../payments/signing-store.ts'
import type { AdmissionRefusal } from './admission-refusal.ts'

export type PaymentOutcome =
  | { readonly kind: 'created' | 'replayed'; readonly payment: Payment }
  | { readonly kind: 'refused'; readonly refusal: AdmissionRefusal }

/**
 * Creates a payment. First checks whether the credential may pay as this agent and reserves the amount. Then asks the
 * enclave to sign and send the transfer (D22, D25). A refusal is returned as a value. A refusal by a limit is also
 * stored, so that members of the workspace can see it.
 *
 * If a payment with this idempotency key already exists, that payment is returned. If its outcome is still unknown,
 * `resumePayment` finds it out first (D21, D23). The key is looked up before any limit is checked, so a retry gets its
 * payment even if a new request would now be refused.
 *
 * Throws `ChainUnavailable` if the chain cannot be read, and `EnclaveOutOfReach` if the enclave has been out of reach for
 * some seconds; then nothing is recorded. Throws 500 `privy_call_failed` if
 * the enclave did not send the payment or its response was lost.
 *
 * Calls `onSubmit` when the request mostly waits for the enclave from then on: it has a reserved payment that is now
 * sent, or an earlier payment whose outcome may have to be found out.
 */
export async function createPayment(
  ctx: Context,
  request: PaymentRequest,
  { onSubmit = () => undefined }: { onSubmit?: () => void } = {},
): Promise<PaymentOutcome> {
  if (!mayPayAs(request, request.agentId)) {
    onSubmit()
    const payment = await replayPayment(ctx, request)
    return payment === null
      ? { kind: 'refused', refusal: { code: 'agent_not_authorized' } }
      : { kind: 'replayed', payment }
  }
  const reservation = await reserveRequest(ctx, request)
  if (reservation.kind === 'refused') {
    recordRefusal(ctx, { request: { ...request, resourceUrl: null }, refusal: reservation.refusal })
    return reservation
  }
  onSubmit()
  const { payment } = reservation
  if (reservation.kind === 'existing') {
    return { kind: 'replayed', payment: await resumeIfAuthorized(ctx, payment, request) }
  }
  const { accepted } = reservation
  if (accepted !== null) return { kind: 'created', payment: await recordAcceptance(ctx, { payment, accepted }) }
  return { kind: 'created', payment: await withRecordedOutcome(submitNew(ctx, reservation), payment) }
}

/**
 * Submits a new payment. If its request had already expired by the enclave's clock, resumes the payment. The second try
 * can succeed, because the enclave's response has told us the enclave's time.
 */
async function submitNew(ctx: Context, reserved: { payment: Payment; signing: SigningParties }): Promise<Payment> {
  const submission = await submitPayment(ctx, reserved)
  return submission.kind === 'done' ? submission.payment : await resumePayment(ctx, reserved.payment)
}
