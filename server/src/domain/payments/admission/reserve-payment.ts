import type { Transaction } from '../../../db/transaction.ts'
import type { GasFunds } from '../../../values/gas.ts'
import { createId } from '../../../values/ids.ts'
import type { Refusal } from '../../../values/problem.ts'
import { CAP_WINDOW_MS, windowStart } from '../../agents/agent.ts'
import type { Context } from '../../context.ts'
import { monthOf, PLANS } from '../../plans/plan.ts'
import { addToAllowance, ensureAllowance, lockAllowance } from '../../plans/plans-store.ts'
import type { BalanceSnapshot } from '../../../chain/balance-snapshots.ts'
import { appendEvent } from '../../webhooks/append-event.ts'
import { ATTEMPT_MS, type Payment } from '../payment.ts'
import { paymentEvent } from '../payment-event.ts'
import type { PaymentRequest } from '../payment-request.ts'
import { findPaymentByKey, insertPayment } from '../payments-store.ts'
import { decidePayment } from './decide-payment.ts'
import {
  findReleasingPayment,
  lockGrant,
  readFacts,
  type AdmissionFacts,
  type LockedGrant,
  type SigningParties,
} from './admission-store.ts'

export type Reservation =
  | { readonly kind: 'reserved'; readonly payment: Payment; readonly signing: SigningParties }
  /** The idempotency key has a payment already. */
  | { readonly kind: 'existing'; readonly payment: Payment }
  /** Every other check has passed, but the balance could not be read. */
  | { readonly kind: 'balance_unknown' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Locks the wallet and the grant, checks every limit and inserts the payment: one transaction, two round trips (D22). From
 * then on every limit counts the payment.
 */
export async function reservePayment(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'enclave'>,
  { request, balance, gas }: { request: PaymentRequest; balance: BalanceSnapshot | null; gas: GasFunds | null },
): Promise<Reservation> {
  return await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const { accountId, mode, idempotencyKey } = request
    const month = mode === 'live' ? monthOf(now) : null
    const input = { request, balance, now, month }
    let read = await lockAndRead(transaction, input)
    // If the grant was replaced while we waited for its lock, the first read finds none. The second one finds the new one.
    if (read[0] === null && read[1] === null) read = await lockAndRead(transaction, input)
    const [grant, existing, facts, used] = read
    if (existing !== null && idempotencyKey !== null) return { kind: 'existing', payment: existing }

    const allowance = PLANS[facts.plan].monthlyAllowance
    const refusal = decidePayment({
      ...facts,
      policy: grant,
      request: { ...request, contract: ctx.chains[mode].usdc },
      allowance: used === null || allowance === null ? null : { allowance, used },
      balanceMicro: balance?.balanceMicro ?? null,
      gas,
      now,
    })
    if (refusal !== null) {
      return { kind: 'refused', refusal: await withResetTime(transaction, { refusal, request, grant, facts, now }) }
    }
    if (balance === null) return { kind: 'balance_unknown' }
    const { signing } = facts
    if (grant === null || signing === null) throw new Error('a payment without a grant was allowed')

    // Waiting for the lock may have taken a while, so the attempt's time starts now.
    const attemptUntil = new Date(ctx.clock.now().getTime() + ATTEMPT_MS)
    const payment = buildPayment(request, {
      grantId: grant.grantId,
      month,
      now,
      attemptUntil,
      requestExpiresAt: ctx.enclave.toEnclaveTime(attemptUntil),
      firstBlock: balance.blockNumber,
    })
    await transaction.commit([
      insertPayment(payment, { ...grant, spent24hMicro: facts.spent24hMicro }),
      ...appendEvent(paymentEvent('payment.created', payment, now)),
      ...(month === null ? [] : [addToAllowance(accountId, month, 1)]),
    ])
    return { kind: 'reserved', payment, signing }
  })
}

/** Takes the lock and reads everything behind it, in one round trip. */
async function lockAndRead(
  transaction: Transaction,
  {
    request,
    balance,
    now,
    month,
  }: { request: PaymentRequest; balance: BalanceSnapshot | null; now: Date; month: string | null },
): Promise<[LockedGrant | null, Payment | null, AdmissionFacts, number | null]> {
  const { accountId, mode } = request
  const lock = lockGrant(request)
  const existing = findPaymentByKey(accountId, mode, request.idempotencyKey)
  const balanceBlock = balance?.blockNumber ?? 0n
  const facts = readFacts(request, { now, windowStart: windowStart(now), balanceBlock })
  if (month === null) return [...(await transaction.batch([lock, existing, facts])), null]
  const allowance = [ensureAllowance(accountId, month), lockAllowance(accountId, month)] as const
  const [grant, payment, , used, read] = await transaction.batch([lock, existing, ...allowance, facts])
  return [grant, payment, read, used]
}

function buildPayment(
  request: PaymentRequest,
  {
    month,
    now,
    ...facts
  }: {
    grantId: string
    month: string | null
    now: Date
    attemptUntil: Date
    requestExpiresAt: Date
    firstBlock: bigint
  },
): Payment {
  return {
    id: createId('payment', now),
    accountId: request.accountId,
    mode: request.mode,
    agentId: request.agentId,
    walletAddress: request.wallet,
    grantId: facts.grantId,
    to: request.to,
    amountMicro: request.amountMicro,
    amountUsdc: request.amountUsdc,
    memo: request.memo,
    idempotencyKey: request.idempotencyKey,
    credentialId: request.credentialId,
    status: 'pending',
    failureCode: null,
    txHash: null,
    createdAt: now,
    acceptedAt: null,
    settledAt: null,
    allowanceMonth: month,
    attempt: 1,
    attemptUntil: facts.attemptUntil,
    requestExpiresAt: facts.requestExpiresAt,
    fencedUntil: null,
    enclaveTransactionId: null,
    userOperationHash: null,
    senderNonce: null,
    pendingReason: null,
    firstBlock: facts.firstBlock,
    searchedBlock: null,
    lookups: 0,
    minedBlock: null,
    minedBlockHash: null,
    logIndex: null,
  }
}

/** Adds to a refusal by the daily cap when the amount will fit (D18a). This costs one more round trip, for refusals only. */
async function withResetTime(
  transaction: Transaction,
  {
    refusal,
    request,
    grant,
    facts,
    now,
  }: {
    refusal: Refusal
    request: PaymentRequest
    grant: LockedGrant | null
    facts: AdmissionFacts
    now: Date
  },
): Promise<Refusal> {
  if (refusal.code !== 'daily_cap_exceeded' || grant === null) return refusal
  const neededMicro = facts.spent24hMicro + request.amountMicro - grant.dailyCapMicro
  const released =
    request.amountMicro > grant.dailyCapMicro
      ? null
      : await transaction.run(findReleasingPayment(request, windowStart(now), neededMicro))
  const resetsAt = released === null ? null : new Date(released.getTime() + CAP_WINDOW_MS).toISOString()
  return { ...refusal, details: { ...refusal.details, resets_at: resetsAt } }
}
