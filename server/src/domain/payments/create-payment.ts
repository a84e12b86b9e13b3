import { ChainUnavailable } from '../../chain/errors.ts'
import { violatesUnique } from '../../db/errors.ts'
import type { Refusal } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { reservePayment, type PaymentRequest, type Reservation } from './admission/reserve-payment.ts'
import { resumePayment } from './resume-payment.ts'
import { withRecordedOutcome } from './with-recorded-outcome.ts'
import { keepRefusal } from './refusals/keep-refusal.ts'
import { findPaymentByKey, IDEMPOTENCY_INDEX } from './payments-store.ts'
import type { Payment } from './payment.ts'
import { driveKnown } from './replay-payment.ts'
import { settleWallet } from './settle-wallet.ts'
import { submitPayment } from './submit-payment.ts'

export type PaymentOutcome =
  | { readonly kind: 'created' | 'replayed'; readonly payment: Payment }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Makes a payment: reserve, then sign (D22). A refusal is a value; it is kept for whoever looks into it. A known idempotency key drives
 * its own payment on and answers with that (D21, D23), unless the credential is `boundTo` another agent (D25). Throws `ChainUnavailable` before anything is recorded, and
 * 500 `privy_call_failed` when the enclave's answer is not known.
 */
export async function createPayment(
  ctx: Context,
  request: PaymentRequest & { readonly boundTo?: string | null },
): Promise<PaymentOutcome> {
  let reservation = await reserve(ctx, request)
  if (reservation.kind === 'refused' && reservation.refusal.code === 'insufficient_balance') {
    // The snapshot may be older than a deposit, or than blocks that hold payments of ours: look again before refusing.
    await settleWallet(ctx, request)
    reservation = await reserve(ctx, request, 0)
  }
  if (reservation.kind === 'refused') {
    keepRefusal(ctx, { request, refusal: reservation.refusal })
    return reservation
  }
  if (reservation.kind === 'known') {
    const { payment } = reservation
    return { kind: 'replayed', payment: await driveKnown(ctx, { payment, boundTo: request.boundTo ?? null }) }
  }
  return { kind: 'created', payment: await withRecordedOutcome(submitNew(ctx, reservation)) }
}

/** The first request may have had an expiry in the past by the provider's clock, which its response has shown. */
async function submitNew(ctx: Context, reserved: Extract<Reservation, { kind: 'reserved' }>): Promise<Payment> {
  const submission = await submitPayment(ctx, reserved)
  return submission.kind === 'done' ? submission.payment : await resumePayment(ctx, reserved.payment)
}

type Judged = Exclude<Reservation, { readonly kind: 'unjudged' }>

async function reserve(ctx: Context, request: PaymentRequest, balanceAgeMsMax?: number): Promise<Judged> {
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
    if (reservation.kind === 'unjudged') throw unavailable
    return reservation
  } catch (error) {
    if (!violatesUnique(error, IDEMPOTENCY_INDEX)) throw error
    // Another request with this key won the race on another wallet; its record is the answer.
    const known = await ctx.db.runDurable(findPaymentByKey(request.accountId, request.mode, request.idempotencyKey))
    if (known === null) throw error
    return { kind: 'known', payment: known }
  }
}
