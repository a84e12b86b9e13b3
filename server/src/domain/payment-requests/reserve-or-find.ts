import { DatabaseUnavailable, violatesUnique } from '../../db/errors.ts'
import type { EnclaveTransfer } from '../../enclave/enclave.ts'
import type { Context } from '../context.ts'
import { findPaymentByKey, IDEMPOTENCY_INDEX } from '../payments/payments-store.ts'
import type { FundedRequest } from './read-admission.ts'
import { compareAgain } from '../unexplained-transfers/compare-ledger.ts'
import { recoverPayment } from './recover-payment.ts'
import { reserveInTurn } from './reserve-in-turn.ts'
import type { Reservation } from './reserve-payment.ts'

type Reserved = Extract<Reservation, { readonly kind: 'reserved' }>

export type FoundOrReserved =
  | Exclude<Reservation, { readonly kind: 'maybe_paid' | 'restored' }>
  /** The payment is reserved, but the enclave had accepted it before the database was restored. It must not be sent. */
  | (Omit<Reserved, 'kind'> & { readonly kind: 'accepted'; readonly transfer: EnclaveTransfer })

/**
 * Decides on a request and reserves its payment, as `reserveInTurn` does. If another request with the same idempotency
 * key, but for another wallet, is recorded at the same time, returns the payment of that request. If the payment may
 * have been made before the database was restored from a backup, first finds out whether it was (D96).
 */
export async function reserveOrFind(ctx: Context, funded: FundedRequest): Promise<FoundOrReserved> {
  const first = await reserve(ctx, funded)
  if (first.kind !== 'maybe_paid') return first
  const recovery = await recoverPayment(ctx, funded.request)
  if (recovery.kind === 'recovered') return { kind: 'existing', payment: recovery.payment }
  if (recovery.kind === 'no_grant')
    return { kind: 'refused', refusal: { code: 'permission_not_found', details: { reason: 'none' } } }
  const reservation = await reserve(ctx, { ...funded, request: { ...funded.request, isLookedUp: true } })
  if (reservation.kind === 'maybe_paid') throw new Error('a payment that was looked up may still be paid')
  if (reservation.kind !== 'reserved' || recovery.kind === 'none') return reservation
  return { ...reservation, kind: 'accepted', transfer: recovery.transfer }
}

/**
 * Reserves the payment. If the database was restored while this process went on, first compares the ledger with the
 * chain again.
 */
async function reserve(ctx: Context, funded: FundedRequest): Promise<Exclude<Reservation, { kind: 'restored' }>> {
  const first = await reserveOnce(ctx, funded)
  if (first.kind !== 'restored') return first
  await compareAgain(ctx, first.missed)
  const second = await reserveOnce(ctx, funded)
  if (second.kind === 'restored') throw new DatabaseUnavailable('the database was restored')
  return second
}

async function reserveOnce(ctx: Context, funded: FundedRequest): Promise<Reservation> {
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
