import { violatesUnique } from '../../db/errors.ts'
import type { Context } from '../context.ts'
import { findPaymentByKey, IDEMPOTENCY_INDEX } from '../payments/payments-store.ts'
import type { FundedRequest } from './read-admission.ts'
import { reserveInTurn } from './reserve-in-turn.ts'
import type { Reservation } from './reserve-payment.ts'

/**
 * Decides on a request and reserves its payment, as `reserveInTurn` does. If another request with the same idempotency
 * key, but for another wallet, is recorded at the same time, returns the payment of that request.
 */
export async function reserveOrFind(ctx: Context, funded: FundedRequest): Promise<Reservation> {
  try {
    return await reserveInTurn(ctx, funded)
  } catch (error) {
    if (!violatesUnique(error, IDEMPOTENCY_INDEX)) throw error
    const { accountId, mode, idempotencyKey } = funded.request
    const existing = await ctx.db.runDurable(findPaymentByKey(accountId, mode, idempotencyKey))
    if (existing === null) throw error
    return { kind: 'existing', payment: existing }
  }
}
