import { EnclaveUnavailable } from '../../enclave/errors.ts'
import type { EnclaveTransfer } from '../../enclave/enclave.ts'
import type { Transaction } from '../../db/transaction.ts'
import { createId } from '../../values/ids.ts'
import { formatAmount } from '../../values/money.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { authorizationNonce, referenceId } from '../payments/derived-ids.ts'
import { newPayment } from '../payments/new-payment.ts'
import { paymentEvent } from '../payments/payment-event.ts'
import type { AgentPayment, Payment } from '../payments/payment.ts'
import { findPaymentByKey, insertPayments } from '../payments/payments-store.ts'
import { recordAcceptance } from '../payments/record-acceptance.ts'
import { addToAllowance, ensureAllowance } from '../plans/plans-store.ts'
import { compareLedger } from '../unexplained-transfers/compare-ledger.ts'
import {
  LOOKED_UP_DAYS,
  LOST_AUTHORIZATION_MS,
  type UnexplainedTransfer,
} from '../unexplained-transfers/unexplained-transfer.ts'
import {
  explainTransfer,
  findNewestFind,
  lockUnexplainedOf,
  lockUnexplainedPurchases,
} from '../unexplained-transfers/unexplained-transfers-store.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { findActiveGrantId } from './admission-store.ts'
import type { PaymentRequest } from './payment-request.ts'
import { allowanceMonthOf } from './reserve-payments.ts'

export type Recovery =
  /** The payment had been made. It is recorded now, with the payee and the amount that the chain shows. */
  | { readonly kind: 'recovered'; readonly payment: Payment }
  /** The enclave reports that the transfer failed, and the chain does not show it. */
  | { readonly kind: 'accepted'; readonly transfer: EnclaveTransfer }
  /** The payment was not made. */
  | { readonly kind: 'none' }
  /** The payment had been made, but the agent has no active grant on the wallet that paid, so it is not recorded. */
  | { readonly kind: 'no_grant' }

const RETRY_AFTER_SECONDS = 10
const DAY_MS = 24 * 60 * 60 * 1_000
/** How far ahead the end of a recovered authorization is set. It was used already, so nothing depends on its end. */
const RECOVERED_VALID_MS = 2_000

/**
 * Finds out whether a payment with an idempotency key was made before the database was restored from a backup (D96). A
 * transfer is looked up at the enclave by its reference id, and a purchase on the chain by its nonce. Both are derived
 * from the key. A payment that is found is recorded with the payee and the amount that the chain shows, even if the
 * request differs. No limit is checked, because the money has moved.
 *
 * The seller chose the nonce of an MPP purchase. So a purchase from the same payee that no payment explains counts as
 * this one, even if its price was another one. If there is none, throws 503 while an authorization that the backup does
 * not contain may still be used.
 *
 * Throws 409 if the key belongs to a purchase and the request is for a transfer, 503 `unavailable` if the enclave cannot
 * be reached, or has sent the transfer and the chain does not show it yet, and `ChainUnavailable` if the chain cannot be read.
 */
export async function recoverPayment(ctx: Context, request: PaymentRequest): Promise<Recovery> {
  return (await recoverPurchase(ctx, request)) ?? (await recoverTransfer(ctx, request))
}

async function recoverTransfer(ctx: Context, request: PaymentRequest): Promise<Recovery> {
  const transfer = await findAtEnclave(ctx, request)
  if (transfer === null) return { kind: 'none' }
  const { txHash } = transfer
  if (txHash === null) return unseen(request, transfer)
  const choose = async (transaction: Transaction): Promise<UnexplainedTransfer | null> => {
    const found = await transaction.run(lockUnexplainedOf(request, txHash))
    const transfers = found.filter((one) => one.nonce === null)
    return transfers.find((one) => hasTerms(one, request)) ?? transfers[0] ?? null
  }
  let recovery = await record(ctx, request, choose)
  if (recovery === null) {
    // The transfer may have been mined since the ledger was compared.
    await compareLedger(ctx, request)
    recovery = await record(ctx, request, choose)
  }
  if (recovery === null) return unseen(request, transfer)
  if (recovery.kind !== 'recovered' || recovery.payment.txHash !== null) return recovery
  return { kind: 'recovered', payment: await recordAcceptance(ctx, { payment: recovery.payment, accepted: transfer }) }
}

/**
 * Only the chain shows what a lost transfer paid, and to whom. So while the transfer may still land, the request has to
 * wait. A transfer that failed, as the enclave reports, is recorded for the request, unless it wants a purchase.
 */
function unseen({ purchase }: PaymentRequest, transfer: EnclaveTransfer): Recovery {
  if (purchase !== undefined || transfer.failure === null) throw notYetKnown()
  return { kind: 'accepted', transfer }
}

/** Returns null if the key does not belong to a purchase that was made. */
async function recoverPurchase(ctx: Context, request: PaymentRequest): Promise<Recovery | null> {
  const now = ctx.clock.now()
  const { workspaceId, mode, idempotencyKey, purchase } = request
  if (idempotencyKey === null) return null
  const nonce = authorizationNonce({ workspaceId, mode, idempotencyKey })
  const isChosenBySeller = purchase?.derivedNonce === null
  const since = new Date(now.getTime() - LOOKED_UP_DAYS * DAY_MS)
  const choose = async (transaction: Transaction): Promise<UnexplainedTransfer | null> => {
    const found = await transaction.run(
      lockUnexplainedPurchases(request, { since, nonce: isChosenBySeller ? null : nonce }),
    )
    const chosen =
      found.find((one) => one.nonce === nonce) ??
      found.find((one) => hasTerms(one, request)) ??
      found.find((one) => one.to === request.to) ??
      null
    if (chosen !== null && purchase === undefined) throw madeByPurchase()
    return chosen
  }
  const recovery = await record(ctx, request, choose)
  if (recovery !== null) return recovery
  if (isChosenBySeller) {
    const newest = await ctx.db.read(findNewestFind(request))
    if (newest !== null && now.getTime() < newest.getTime() + LOST_AUTHORIZATION_MS) throw notYetKnown()
  }
  return null
}

function madeByPurchase(): Problem {
  return new Problem(
    'conflict',
    'This idempotency_key belongs to a purchase that was made before the database was restored. Nothing was paid now. Repeat the request for the purchase to get its payment, or use a new key for another payment.',
  )
}

function hasTerms(transfer: UnexplainedTransfer, { wallet, to, amountMicro }: PaymentRequest): boolean {
  return transfer.wallet === wallet && transfer.to === to && transfer.amountMicro === amountMicro
}

async function findAtEnclave(ctx: Context, request: PaymentRequest): Promise<EnclaveTransfer | null> {
  const { workspaceId, mode, idempotencyKey } = request
  try {
    const reference = referenceId({ workspaceId, mode, idempotencyKey, id: '' })
    return (await ctx.enclave.findTransfer(reference, workspaceId)).transfer
  } catch (error) {
    throw error instanceof EnclaveUnavailable ? notYetKnown(error) : error
  }
}

function notYetKnown(cause?: unknown): Problem {
  const message =
    'The database was restored, and it is not known yet whether this payment was made before. Nothing was paid now. Retry with the same idempotency_key.'
  return new Problem('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
}

/**
 * Records the payment of an unexplained transfer, which `choose` locks and returns. In the same transaction, the
 * transfer stops counting for itself. Returns null if there is no such transfer.
 */
async function record(
  ctx: Context,
  request: PaymentRequest,
  choose: (transaction: Transaction) => Promise<UnexplainedTransfer | null>,
): Promise<Extract<Recovery, { kind: 'recovered' | 'no_grant' }> | null> {
  return await ctx.db.transaction(async (transaction) => {
    const transfer = await choose(transaction)
    // Another request with this key may have recorded the payment while this one waited for its lock.
    const { workspaceId, mode, idempotencyKey } = request
    const existing = await transaction.run(findPaymentByKey(workspaceId, mode, idempotencyKey))
    if (existing !== null) return { kind: 'recovered', payment: existing }
    if (transfer === null) return null
    const grantId = await transaction.run(findActiveGrantId({ ...request, wallet: transfer.wallet }))
    if (grantId === null) return { kind: 'no_grant' }
    const now = ctx.clock.now()
    const payment = toPayment(request, { transfer, grantId, now })
    const month = payment.allowanceMonth
    await transaction.commit([
      insertPayments([{ payment, admission: null, recoveredAt: now }]),
      ...storePurchase(request, payment),
      explainTransfer(transfer, payment.id),
      ...appendEvent(paymentEvent('payment.created', payment, now)),
      ...(month === null ? [] : [ensureAllowance(workspaceId, month), addToAllowance(workspaceId, month, 1)]),
    ])
    return { kind: 'recovered', payment }
  })
}

function storePurchase({ purchase }: PaymentRequest, payment: AgentPayment) {
  if (purchase === undefined || payment.kind !== 'x402') return []
  const { nonce, validBefore } = payment.authorization
  const authorization = {
    from: payment.walletAddress,
    to: payment.to,
    valueMicro: payment.amountMicro,
    validAfterSeconds: 0n,
    validBeforeSeconds: BigInt(validBefore.getTime() / 1_000),
    nonce,
  }
  // The authorization was used before, so no response is expected.
  return purchase.store(payment, { authorization, reservedBytes: 0 })
}

function toPayment(
  request: PaymentRequest,
  { transfer, grantId, now }: { transfer: UnexplainedTransfer; grantId: string; now: Date },
): AgentPayment {
  const { workspaceId, mode, agentId, memo, idempotencyKey, credentialId, requestId } = request
  const { wallet: walletAddress, to, amountMicro, nonce, blockNumber } = transfer
  const fields = {
    ...{ id: createId('payment', now), workspaceId, mode, agentId, grantId },
    ...{ walletAddress, to, amountMicro, amountUsdc: formatAmount(amountMicro), memo, idempotencyKey, credentialId },
    requestId,
    createdAt: now,
    allowanceMonth: allowanceMonthOf(mode, now),
    attemptUntil: null,
    requestExpiresAt: null,
    firstBlock: blockNumber,
  }
  if (nonce === null) return newPayment({ ...fields, kind: 'transfer', authorization: null })
  const validBefore = new Date(Math.ceil((now.getTime() + RECOVERED_VALID_MS) / 1_000) * 1_000)
  return newPayment({ ...fields, kind: 'x402', authorization: { nonce, validBefore } })
}
