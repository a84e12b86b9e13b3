import { ChainUnavailable } from '../../chain/errors.ts'
import { DatabaseUnavailable, violatesUnique } from '../../db/errors.ts'
import { Problem, type Refusal } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { reservePayment, type PaymentRequest, type Reservation } from './admission/reserve-payment.ts'
import { drivePayment } from './drive-payment.ts'
import { findPaymentByKey, IDEMPOTENCY_INDEX } from './store.ts'
import type { Payment } from './payment.ts'
import { settleWallet } from './settle-wallet.ts'
import { submitPayment } from './submit-payment.ts'

export type PaymentOutcome =
  | { readonly kind: 'created' | 'replayed'; readonly payment: Payment }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Makes a payment: reserve, then sign (D22). A refusal is a value and leaves no record. A known idempotency key drives
 * its own payment on and answers with that (D21, D23). Throws `ChainUnavailable` before anything is recorded, and
 * 500 `privy_call_failed` when the enclave's answer is not known.
 */
export async function createPayment(ctx: Context, request: PaymentRequest): Promise<PaymentOutcome> {
  let reservation = await reserve(ctx, request)
  if (reservation.kind === 'refused' && reservation.refusal.code === 'insufficient_balance') {
    // The snapshot may be older than a deposit, or than blocks that hold payments of ours: look again before refusing.
    await settleWallet(ctx, request)
    reservation = await reserve(ctx, request, 0)
  }
  switch (reservation.kind) {
    case 'refused':
      return reservation
    case 'known':
      return { kind: 'replayed', payment: await drivePayment(ctx, reservation.payment) }
    case 'reserved':
      return { kind: 'created', payment: await submitReserved(ctx, reservation) }
  }
}

/** From here on there is a record: a database that is lost now must not answer that nothing was recorded. */
async function submitReserved(ctx: Context, reservation: Parameters<typeof submitPayment>[1]): Promise<Payment> {
  try {
    return await submitPayment(ctx, reservation)
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error
    const message = 'The payment is recorded, but its outcome could not be. Retry with the same idempotency key.'
    throw new Problem('internal', message, { cause: error })
  }
}

async function reserve(ctx: Context, request: PaymentRequest, balanceAgeMsMax?: number): Promise<Reservation> {
  try {
    const balance = await ctx.balances.read(ctx.chains[request.mode], request.wallet, balanceAgeMsMax)
    return await reservePayment(ctx, { request, balance })
  } catch (error) {
    // A known key needs no chain (D21); one that lost a race on another wallet is known by now.
    if (!(error instanceof ChainUnavailable) && !violatesUnique(error, IDEMPOTENCY_INDEX)) throw error
    const known = await ctx.db.write(findPaymentByKey(request.accountId, request.mode, request.idempotencyKey))
    if (known === null) throw error
    return { kind: 'known', payment: known }
  }
}
