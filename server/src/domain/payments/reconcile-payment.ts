import { ChainUnavailable } from '../../chain/errors.ts'
import type { EnclaveTransfer } from '../../enclave/transactions.ts'
import type { Context } from '../context.ts'
import { failPayment } from './fail-payment.ts'
import { isFenceOver, isTooOldToSend, isUnsent, type Payment, type PendingReason, type TxHash } from './payment.ts'
import { recordAcceptance } from './record-acceptance.ts'
import { settlePayments } from './settle-payments.ts'
import { noteLook, replaceHash } from './payments-store.ts'
import { lookAfterHash, nextLookAt } from './tracing/look-schedule.ts'
import { claimTransfer, traceNonce, traceOperation, type Trace } from './tracing/trace-transfer.ts'

export type ReconcileContext = Pick<Context, 'db' | 'clock' | 'enclave' | 'chains' | 'logger'>

/** What the provider's words about a transaction are to us: reasons to look at the chain, never proof (D24a). */
const REPORTED: Readonly<Record<string, PendingReason>> = {
  failed: 'reported_failed',
  provider_error: 'reported_failed',
  replaced: 'reported_replaced',
  execution_reverted: 'reported_reverted',
}

/** What a look learned that is kept on the row. */
interface Learned {
  found: EnclaveTransfer | null
  searchedBlock: bigint | null
  senderNonce: bigint | null
}

/**
 * Looks up what became of a payment that nobody drives on (D23), on the chain and at the provider, and records it. It
 * never causes a signature. Every look that changes nothing puts the next one off for longer.
 * @throws EnclaveUnavailable, ChainUnavailable
 */
export async function reconcilePayment(ctx: ReconcileContext, { payment }: { payment: Payment }): Promise<void> {
  const { searchedBlock, senderNonce } = payment
  const learned: Learned = { found: null, searchedBlock, senderNonce }
  try {
    if (payment.txHash !== null && (await isSettled(ctx, payment))) return
    const outage = await lookForOperation(ctx, payment, learned)
    if (outage === 'found') return
    await lookAtProvider(ctx, payment, learned)
    if (outage !== null) throw outage
  } finally {
    await note(ctx, payment, learned)
  }
}

/** The receipt may prove something by now; one that stands in a block needs no other look. */
async function isSettled(ctx: ReconcileContext, payment: Payment): Promise<boolean> {
  const [settled = payment] = await settlePayments(ctx, { mode: payment.mode, payments: [payment] })
  return settled.status !== 'pending' || settled.minedBlock !== null
}

/** A chain that is out of reach must not keep the provider from being asked: its error is returned. */
async function lookForOperation(
  ctx: ReconcileContext,
  payment: Payment,
  learned: Learned,
): Promise<'found' | ChainUnavailable | null> {
  if (payment.userOperationHash === null) return null
  try {
    const trace = await traceOperation(ctx, payment, [payment.userOperationHash])
    if (trace.kind === 'found') return await settleFound(ctx, trace.payment)
    learned.searchedBlock = trace.searchedBlock
    return null
  } catch (error) {
    if (error instanceof ChainUnavailable) return error
    throw error
  }
}

async function lookAtProvider(ctx: ReconcileContext, payment: Payment, learned: Learned): Promise<void> {
  const { transfer, answeredAt } = await ctx.enclave.findTransfer(payment.id)
  learned.found = transfer
  if (transfer === null) {
    await lookWithoutRecord(ctx, payment, { answeredAt, learned })
    return
  }
  const known = await recordNews(ctx, payment, transfer)
  if (known === null) return
  const told = transfer.userOperationHash
  if (told !== null && told !== payment.userOperationHash) {
    const trace = await traceOperation(ctx, { ...known, searchedBlock: null }, [told])
    if (trace.kind === 'found') await settleFound(ctx, trace.payment)
    return
  }
  if (payment.userOperationHash === null) await lookByReport(ctx, known, { found: transfer, learned })
}

/**
 * The provider knows nothing of it. Never sent, past the settling time, with no request under way any more by the
 * provider's own time (D24b): failed. After an attempt whose outcome was unknown, the chain must have been searched up to
 * its head first, because the provider may have kept no record.
 */
async function lookWithoutRecord(
  ctx: ReconcileContext,
  payment: Payment,
  { answeredAt, learned }: { answeredAt: Date; learned: Learned },
): Promise<void> {
  const isOver = isTooOldToSend(payment, ctx.clock.now()) && isFenceOver(payment, answeredAt)
  if (isUnsent(payment) && !isOver) return
  // A transaction that was found on the chain may have been taken back.
  const mayHaveLanded = payment.fencedUntil !== null && payment.enclaveTransactionId === null
  if (mayHaveLanded) {
    const trace = await claimTransfer(ctx, payment)
    if (await recordTrace(ctx, trace, learned)) return
    if (trace.kind !== 'absent') return
  }
  if (isUnsent(payment)) await failPayment(ctx, { payment, code: 'never_received' })
}

/** Where no user operation is known: by what the provider reports, and by the nonce of its transaction. */
async function lookByReport(
  ctx: ReconcileContext,
  payment: Payment,
  { found, learned }: { found: EnclaveTransfer; learned: Learned },
): Promise<void> {
  const isOld = isTooOldToSend(payment, ctx.clock.now())
  const nonce = payment.txHash === null ? null : await traceNonce(ctx, payment, payment.txHash)
  learned.senderNonce = nonce?.senderNonce ?? null
  const overtakenAt = nonce?.overtakenAt ?? null
  if (overtakenAt === null && REPORTED[found.status] === undefined && !isOld) return
  const trace = await claimTransfer(ctx, payment)
  if ((await recordTrace(ctx, trace, learned)) || trace.kind !== 'absent') return
  if (overtakenAt !== null && (trace.searchedBlock ?? -1n) >= overtakenAt) {
    await failPayment(ctx, { payment, code: 'replaced' })
  } else if (found.status === 'execution_reverted' && payment.txHash === null && isOld) {
    // The provider's word, since there is no hash to look for; the chain shows no such transfer.
    await failPayment(ctx, { payment, code: 'reverted' })
  }
}

/** Records an acceptance or a hash that was not known. Returns the payment as it stands, or null when its hash is new. */
async function recordNews(ctx: ReconcileContext, payment: Payment, found: EnclaveTransfer): Promise<Payment | null> {
  if (payment.txHash !== null) {
    if (found.txHash === null || found.txHash === payment.txHash) return payment
    await adoptHash(ctx, payment, found.txHash)
    return null
  }
  if (found.txHash === null && payment.enclaveTransactionId !== null) return payment
  const recorded = await recordAcceptance(ctx, { payment, found })
  return found.txHash === null ? recorded : null
}

async function adoptHash(ctx: ReconcileContext, payment: Payment, txHash: TxHash): Promise<void> {
  const now = ctx.clock.now()
  const adopted = await ctx.db.runDurable(replaceHash(payment, txHash, { now, nextLookAt: lookAfterHash(now) }))
  if (adopted !== null) await settleFound(ctx, adopted)
}

async function recordTrace(ctx: ReconcileContext, trace: Trace, learned: Learned): Promise<boolean> {
  if (trace.kind === 'found') {
    await settleFound(ctx, trace.payment)
    return true
  }
  learned.searchedBlock = trace.searchedBlock
  return false
}

async function settleFound(ctx: ReconcileContext, payment: Payment): Promise<'found'> {
  await settlePayments(ctx, { mode: payment.mode, payments: [payment] })
  return 'found'
}

/** Changes nothing where the look has moved the payment on. */
async function note(
  ctx: ReconcileContext,
  payment: Payment,
  { found, searchedBlock, senderNonce }: Learned,
): Promise<void> {
  const reported = found === null ? undefined : REPORTED[found.status]
  if (reported !== undefined && reported !== payment.pendingReason) {
    ctx.logger.error(
      { payment: payment.id, tx: payment.txHash, status: found?.status },
      'the enclave provider reports that a payment failed; it stays pending until the chain proves it',
    )
  }
  const isHashUnknown = found !== null && payment.txHash === null
  await ctx.db.runDurable(
    noteLook(payment, {
      reason: reported ?? (isHashUnknown ? 'hash_unknown' : payment.pendingReason),
      nextLookAt: nextLookAt(payment.looks + 1, ctx.clock.now()),
      searchedBlock,
      senderNonce,
      userOperationHash: found?.userOperationHash ?? null,
    }),
  )
}
