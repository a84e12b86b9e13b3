import { ChainUnavailable } from '../../chain/errors.ts'
import { violatesUnique } from '../../db/errors.ts'
import type { Refusal } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { reservePayment, type Reservation } from './admission/reserve-payment.ts'
import { resumePayment } from './resume-payment.ts'
import { withRecordedOutcome } from './with-recorded-outcome.ts'
import { recordRefusal } from './refusals/record-refusal.ts'
import { findPaymentByKey, IDEMPOTENCY_INDEX } from './payments-store.ts'
import type { Payment } from './payment.ts'
import { mayPayAs, type PaymentRequest } from './payment-request.ts'
import { replayPayment, resumeIfAuthorized } from './replay-payment.ts'
import { settleWalletPayments } from './settle-wallet-payments.ts'
import { submitPayment } from './submit-payment.ts'

export type PaymentOutcome =
  | { readonly kind: 'created' | 'replayed'; readonly payment: Payment }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Creates a payment: checks whether the credential may pay as this agent, reserves the amount, then asks the enclave to
 * sign and send the transfer (D22, D25). A refusal is returned as a value; if a limit was the reason, it is also stored,
 * so that an owner can see it.
 *
 * If the idempotency key has a payment already, that payment is returned, and resumed if its outcome is still unknown
 * (D21, D23). The key is looked up before any limit is checked, so a retry gets its payment even when the request would
 * be refused now.
 *
 * Throws `ChainUnavailable` before anything is recorded, and 500 `privy_call_failed` if the enclave's response is lost.
 */
export async function createPayment(ctx: Context, request: PaymentRequest): Promise<PaymentOutcome> {
  if (!mayPayAs(request, request.agentId)) {
    const payment = await replayPayment(ctx, request)
    return payment === null
      ? { kind: 'refused', refusal: { code: 'agent_not_authorized' } }
      : { kind: 'replayed', payment }
  }
  let reservation = await reserve(ctx, request)
  if (reservation.kind === 'refused' && reservation.refusal.code === 'insufficient_balance') {
    // The balance snapshot may be older than a deposit, or than blocks with our own payments. Read it again before refusing.
    await settleWalletPayments(ctx, request)
    reservation = await reserve(ctx, request, 0)
  }
  if (reservation.kind === 'refused') {
    recordRefusal(ctx, { request, refusal: reservation.refusal })
    return reservation
  }
  if (reservation.kind === 'existing') {
    return { kind: 'replayed', payment: await resumeIfAuthorized(ctx, reservation.payment, request) }
  }
  return { kind: 'created', payment: await withRecordedOutcome(submitNew(ctx, reservation)) }
}

/** Resumes if the first request had already expired by the provider's clock: its response has shown us that clock. */
async function submitNew(ctx: Context, reserved: Extract<Reservation, { kind: 'reserved' }>): Promise<Payment> {
  const submission = await submitPayment(ctx, reserved)
  return submission.kind === 'done' ? submission.payment : await resumePayment(ctx, reserved.payment)
}

type DecidedReservation = Exclude<Reservation, { readonly kind: 'balance_unknown' }>

async function reserve(ctx: Context, request: PaymentRequest, balanceAgeMsMax?: number): Promise<DecidedReservation> {
  const chain = ctx.chains[request.mode]
  let unavailable: unknown
  const [balance, gas] = await Promise.all([
    ctx.balances.read(chain, request.wallet, balanceAgeMsMax),
    chain.gas === 'self' ? chain.readGasFunds(request.wallet) : null,
  ]).catch((error: unknown) => {
    if (!(error instanceof ChainUnavailable)) throw error
    unavailable = error
    return [null, null] as const
  })
  try {
    const reservation = await reservePayment(ctx, { request, balance, gas })
    if (reservation.kind === 'balance_unknown') throw unavailable
    return reservation
  } catch (error) {
    if (!violatesUnique(error, IDEMPOTENCY_INDEX)) throw error
    // Another request with this key was faster, on another wallet. Its payment is the result.
    const existing = await ctx.db.runDurable(findPaymentByKey(request.accountId, request.mode, request.idempotencyKey))
    if (existing === null) throw error
    return { kind: 'existing', payment: existing }
  }
}
