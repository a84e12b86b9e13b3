import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { windowStart } from '../agents/agent.ts'
import type { Context } from '../context.ts'
import { monthOf } from '../plans/plan.ts'
import { addToAllowance, ensureAllowance, lockAllowance } from '../plans/plans-store.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { newPayment } from '../payments/new-payment.ts'
import { ATTEMPT_MS, type Payment } from '../payments/payment.ts'
import { paymentEvent } from '../payments/payment-event.ts'
import { findPaymentByKey, insertPayment } from '../payments/payments-store.ts'
import type { SigningParties } from '../payments/signing-store.ts'
import { lockGrant, readFacts } from './admission-store.ts'
import {
  readAdmission,
  type Admission,
  type AdmissionReading,
  type FundedRequest,
  type TimedRequest,
} from './read-admission.ts'

export type Reservation =
  | { readonly kind: 'reserved'; readonly payment: Payment; readonly signing: SigningParties }
  | Exclude<Admission, { readonly kind: 'allowed' }>

type AllowedAdmission = Extract<Admission, { readonly kind: 'allowed' }>

/**
 * Locks the wallet and the grant, checks every limit and inserts the payment, all in one transaction with two round
 * trips (D22). From then on, the payment counts towards every limit.
 */
export async function reservePayment(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'enclave'>,
  funded: FundedRequest,
): Promise<Reservation> {
  return await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const { request } = funded
    const month = allowanceMonthOf(request.mode, now)
    const admission = await readAdmission(
      ctx,
      { ...funded, now },
      {
        async read() {
          const first = await lockAndRead(transaction, { ...funded, now, month })
          if (first.grant !== null || first.existing !== null) return first
          // If the grant was replaced while we waited for its lock, the first read finds no active grant. The second
          // read finds the new grant.
          return await lockAndRead(transaction, { ...funded, now, month })
        },
        run: (query) => transaction.run(query),
      },
    )
    if (admission.kind !== 'allowed') return admission
    const { writes, ...reserved } = makeReservation(ctx, { ...funded, now, admission })
    await transaction.commit(writes)
    return { kind: 'reserved', ...reserved }
  })
}

/**
 * Makes the reservation for a request that was allowed. `writes` are the statements that store it. The caller runs them
 * in the transaction that holds the locks.
 */
export function makeReservation(
  ctx: Pick<Context, 'clock' | 'enclave'>,
  { request, now, admission: { grant, facts, balance } }: TimedRequest & { readonly admission: AllowedAdmission },
): { readonly payment: Payment; readonly signing: SigningParties; readonly writes: readonly Query<unknown>[] } {
  const { enclaveWalletId } = facts
  const signerKey = grant.slotKey ?? facts.agentKey
  if (enclaveWalletId === null || signerKey === null) throw new Error('a payment without a signer was allowed')

  // We may have waited a while for the lock, so the ten seconds of the attempt start at the current time and not at
  // `now`.
  const attemptUntil = new Date(ctx.clock.now().getTime() + ATTEMPT_MS)
  const { accountId, mode, agentId, wallet, to, amountMicro, amountUsdc, memo, idempotencyKey, credentialId } = request
  const month = allowanceMonthOf(mode, now)
  const payment = newPayment({
    ...{ id: createId('payment', now), accountId, mode, kind: 'transfer', agentId, grantId: grant.grantId },
    ...{ walletAddress: wallet, to, amountMicro, amountUsdc, memo, idempotencyKey, credentialId },
    createdAt: now,
    allowanceMonth: month,
    attemptUntil,
    requestExpiresAt: ctx.enclave.toEnclaveTime(attemptUntil),
    firstBlock: balance.blockNumber,
  })
  const writes = [
    insertPayment(payment, { ...grant, spent24hMicro: facts.spent24hMicro }),
    ...appendEvent(paymentEvent('payment.created', payment, now)),
    ...(month === null ? [] : [addToAllowance(accountId, month, 1)]),
  ]
  return { payment, signing: { enclaveWalletId, signerKey }, writes }
}

/** Returns the month in whose allowance a payment counts. Null if it counts in none, because it is a test payment. */
export function allowanceMonthOf(mode: Mode, now: Date): string | null {
  return mode === 'live' ? monthOf(now) : null
}

/** Locks the wallet and the grant, then reads all facts for the decision, in one round trip. */
async function lockAndRead(
  transaction: Transaction,
  { request, balance, now, month }: TimedRequest & { readonly month: string | null },
): Promise<AdmissionReading> {
  const { accountId, mode } = request
  const lock = lockGrant(request)
  const find = findPaymentByKey(accountId, mode, request.idempotencyKey)
  const read = readFacts(request, { now, windowStart: windowStart(now), balanceBlock: balance?.blockNumber ?? 0n })
  if (month === null) {
    const [grant, existing, facts] = await transaction.batch([lock, find, read])
    return { grant, existing, facts, used: null }
  }
  const allowance = [ensureAllowance(accountId, month), lockAllowance(accountId, month)] as const
  const [grant, existing, , used, facts] = await transaction.batch([lock, find, ...allowance, read])
  return { grant, existing, facts, used }
}
