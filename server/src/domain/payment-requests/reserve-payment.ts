import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { TransferAuthorization } from '../../values/transfer-authorization.ts'
import { windowStart } from '../grants/spent-window.ts'
import type { Context, LedgerMemory } from '../context.ts'
import type { DomainEvent } from '../events/event.ts'
import { monthOf } from '../plans/plan.ts'
import { addToAllowance, ensureAllowance, lockAllowance } from '../plans/plans-store.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { newPayment } from '../payments/new-payment.ts'
import { ATTEMPT_MS, type Payment, type PaymentAuthorization } from '../payments/payment.ts'
import { paymentEvent } from '../payments/payment-event.ts'
import { findPaymentByKey, insertPayment, type NewPaymentRow } from '../payments/payments-store.ts'
import type { SigningParties } from '../payments/signing-store.ts'
import { lockGrant, readFacts } from './admission-store.ts'
import {
  mayBePaid,
  readAdmission,
  type Admission,
  type AdmissionReading,
  type FundedRequest,
  type TimedRequest,
} from './read-admission.ts'

export type Reservation =
  | { readonly kind: 'reserved'; readonly payment: Payment; readonly signing: SigningParties }
  /** The payment may already have been made (`mayBePaid`). Nothing was decided. */
  | { readonly kind: 'maybe_paid' }
  /** The database does not have the payment `missed` any more, which this process has reserved. Nothing was decided. */
  | { readonly kind: 'restored'; readonly missed: LedgerMemory['newestPayment'] }
  | Exclude<Admission, { readonly kind: 'allowed' }>

type AllowedAdmission = Extract<Admission, { readonly kind: 'allowed' }>

/**
 * Locks the wallet and the grant, checks every limit and inserts the payment, all in one transaction with two round
 * trips (D22). From then on, the payment counts towards every limit.
 */
export async function reservePayment(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'enclave' | 'ledger'>,
  funded: FundedRequest,
): Promise<Reservation> {
  const { request } = funded
  const newest = ctx.ledger.newestPayment
  const reserve = async (transaction: Transaction): Promise<Reservation> => {
    const now = ctx.clock.now()
    const month = allowanceMonthOf(request.mode, now)
    const first = await lockAndRead(transaction, { ...funded, now, month }, newest)
    // If the grant was replaced while we waited for its lock, the first read finds no active grant. The second read finds
    // the new grant.
    const isRead = first.grant !== null || first.existing !== null
    const reading = isRead ? first : await lockAndRead(transaction, { ...funded, now, month }, newest)
    if (!reading.facts.hasNewest) return { kind: 'restored', missed: newest }
    if (mayBePaid(request, reading)) return { kind: 'maybe_paid' }
    const admission = await readAdmission(
      ctx,
      { ...funded, now },
      { read: async () => reading, run: (query) => transaction.run(query) },
    )
    if (admission.kind !== 'allowed') return admission
    const { row, purchase, event, signing } = makeReservation(ctx, { ...funded, now, admission })
    const { payment } = row
    await transaction.commit([
      insertPayment(payment, row.admission),
      ...purchase,
      ...appendEvent(event),
      ...(month === null ? [] : [addToAllowance(payment.accountId, month, 1)]),
    ])
    return { kind: 'reserved', payment, signing }
  }
  const reservation = await ctx.db.transaction(reserve, { group: request.accountId })
  if (reservation.kind === 'reserved') ctx.ledger.newestPayment = toMemory(reservation.payment)
  return reservation
}

/** Returns what a process remembers of a payment that it has reserved. */
export function toMemory({ accountId, id }: Payment): NonNullable<LedgerMemory['newestPayment']> {
  return { accountId, id }
}

/** A reservation that is not stored yet: the payment with the limits that were checked for it, and its event. */
export interface NewReservation {
  readonly row: NewPaymentRow
  /** The statements that store what a purchase adds to its payment. They run after the payment was inserted. */
  readonly purchase: readonly Query<unknown>[]
  readonly event: DomainEvent
  readonly signing: SigningParties
}

/**
 * Makes the reservation for a request that was allowed. The caller stores it in the transaction that holds the locks,
 * and counts it in the month's allowance.
 */
export function makeReservation(
  ctx: Pick<Context, 'clock' | 'enclave'>,
  { request, now, admission: { grant, facts, balance } }: TimedRequest & { readonly admission: AllowedAdmission },
): NewReservation {
  const { enclaveWalletId } = facts
  if (enclaveWalletId === null) throw new Error('a payment without a wallet was allowed')

  // We may have waited a while for the lock, so the ten seconds of the attempt start at the current time and not at
  // `now`.
  const attemptUntil = new Date(ctx.clock.now().getTime() + ATTEMPT_MS)
  const authorization = request.purchase?.authorize({ now, grantExpiresAt: grant.expiresAt }) ?? null
  const { accountId, mode, agentId, wallet, to, amountMicro, amountUsdc, memo, idempotencyKey, credentialId } = request
  const payment = newPayment({
    ...{
      id: createId('payment', now),
      accountId,
      mode,
      kind: request.kind ?? 'transfer',
      agentId,
      grantId: grant.grantId,
    },
    ...{ walletAddress: wallet, to, amountMicro, amountUsdc, memo, idempotencyKey, credentialId },
    createdAt: now,
    allowanceMonth: allowanceMonthOf(mode, now),
    authorization: authorization === null ? null : toPaymentAuthorization(authorization),
    // Only transfers use attempts. A purchase is claimed by the process that makes it, until the time in
    // `worked_until`.
    attemptUntil: authorization === null ? attemptUntil : null,
    requestExpiresAt: authorization === null ? ctx.enclave.toEnclaveTime(attemptUntil) : null,
    firstBlock: balance.blockNumber,
  })
  const row = { payment, admission: { ...grant, spent24hMicro: facts.spent24hMicro } }
  const purchase = authorization === null ? [] : (request.purchase?.store(payment, authorization) ?? [])
  return {
    row,
    purchase,
    event: paymentEvent('payment.created', payment, now),
    signing: { enclaveWalletId, signerKey: grant.signerKey },
  }
}

function toPaymentAuthorization({ nonce, validBeforeSeconds }: TransferAuthorization): PaymentAuthorization {
  return { nonce, validBefore: new Date(Number(validBeforeSeconds) * 1_000) }
}

/** Returns the month in whose allowance a payment counts. Null if it counts in none, because it is a test payment. */
export function allowanceMonthOf(mode: Mode, now: Date): string | null {
  return mode === 'live' ? monthOf(now) : null
}

/** Locks the wallet and the grant, then reads all facts for the decision, in one round trip. */
async function lockAndRead(
  transaction: Transaction,
  { request, balance, now, month }: TimedRequest & { readonly month: string | null },
  newest: LedgerMemory['newestPayment'],
): Promise<AdmissionReading> {
  const { accountId, mode } = request
  const lock = lockGrant(request)
  const find = findPaymentByKey(accountId, mode, request.idempotencyKey)
  const balanceBlock = balance?.blockNumber ?? 0n
  const read = readFacts(request, { now, windowStart: windowStart(now), balanceBlock, newest })
  if (month === null) {
    const [grant, existing, facts] = await transaction.batch([lock, find, read])
    return { grant, existing, facts, used: null }
  }
  const allowance = [ensureAllowance(accountId, month), lockAllowance(accountId, month)] as const
  const [grant, existing, , used, facts] = await transaction.batch([lock, find, ...allowance, read])
  return { grant, existing, facts, used }
}
