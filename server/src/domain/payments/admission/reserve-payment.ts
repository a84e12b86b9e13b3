import type { Transaction } from '../../../db/transaction.ts'
import type { Address } from '../../../values/address.ts'
import type { AgentId } from '../../../values/agent-id.ts'
import type { GasFunds } from '../../../values/gas.ts'
import { createId } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import type { MicroUsdc } from '../../../values/money.ts'
import type { Refusal } from '../../../values/problem.ts'
import { CAP_WINDOW_MS, windowStart } from '../../agents/agent.ts'
import type { Context } from '../../context.ts'
import { monthOf, PLANS } from '../../plans/plan.ts'
import { addToAllowance, ensureAllowance, lockAllowance } from '../../plans/plans-store.ts'
import type { BalanceSnapshot } from '../../../chain/balance-snapshots.ts'
import { appendEvent } from '../../webhooks/append-event.ts'
import { ATTEMPT_MS, type Payment } from '../payment.ts'
import { paymentEvent } from '../payment-event.ts'
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

export interface PaymentRequest {
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: AgentId
  readonly wallet: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  readonly amountUsdc: string
  readonly memo: string | null
  readonly idempotencyKey: string | null
  /** The API key or the connection that asks for it. */
  readonly credentialId: string | null
}

export type Reservation =
  | { readonly kind: 'reserved'; readonly payment: Payment; readonly signing: SigningParties }
  | { readonly kind: 'known'; readonly payment: Payment }
  | { readonly kind: 'unjudged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * Takes the lock, checks every limit, writes the record: one transaction, two round trips (D22). What it writes is
 * counted by every limit from then on. `known`: the idempotency key has a record already. `unjudged`: all but the
 * balance would allow it, and that could not be read.
 */
export async function reservePayment(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'enclave'>,
  { request, balance, gas }: { request: PaymentRequest; balance: BalanceSnapshot | null; gas: GasFunds | null },
): Promise<Reservation> {
  return await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const { accountId, mode, idempotencyKey } = request
    const month = mode === 'live' ? monthOf(now) : null
    const asked = { request, balance, now, month }
    let read = await readCase(transaction, asked)
    // A grant that was replaced while its lock was waited for is not the one that holds: that is seen by looking again.
    if (read[0] === null && read[1] === null) read = await readCase(transaction, asked)
    const [grant, known, facts, used] = read
    if (known !== null && idempotencyKey !== null) return { kind: 'known', payment: known }

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
    if (balance === null) return { kind: 'unjudged' }
    const { signing } = facts
    if (grant === null || signing === null) throw new Error('a payment without a grant was allowed')

    // The lock may have been waited for: the attempt's time begins here.
    const attemptUntil = new Date(ctx.clock.now().getTime() + ATTEMPT_MS)
    const payment = makePayment(request, {
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

/** All that is read stands behind the lock, in one round trip. */
async function readCase(
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
  const known = findPaymentByKey(accountId, mode, request.idempotencyKey)
  const balanceBlock = balance?.blockNumber ?? 0n
  const facts = readFacts(request, { now, windowStart: windowStart(now), balanceBlock })
  if (month === null) return [...(await transaction.batch([lock, known, facts])), null]
  const allowance = [ensureAllowance(accountId, month), lockAllowance(accountId, month)] as const
  const [grant, payment, , used, read] = await transaction.batch([lock, known, ...allowance, facts])
  return [grant, payment, read, used]
}

function makePayment(
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
    looks: 0,
    minedBlock: null,
    minedBlockHash: null,
    logIndex: null,
  }
}

/** Tells an agent whose cap is used up when to come back (D18a); costs a round trip, which only a refusal pays. */
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
