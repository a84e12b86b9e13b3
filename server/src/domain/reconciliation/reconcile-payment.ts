import { ChainUnavailable } from '../../chain/errors.ts'
import type { EnclaveTransfer } from '../../enclave/enclave.ts'
import type { Context } from '../context.ts'
import { referenceId } from '../payments/derived-ids.ts'
import { failPayment } from '../payments/fail-payment.ts'
import {
  isFenceOver,
  isNeverSentAgain,
  isOutcomeUnknown,
  isTooOldToSend,
  type Payment,
  type TxHash,
  nameInLog,
} from '../payments/payment.ts'
import { recordAcceptance } from '../payments/record-acceptance.ts'
import { settlePayments } from '../payments/settle-payments.ts'
import { recordLookup, replaceHash } from '../payments/payments-store.ts'
import { lookupAfterHash, nextLookupAt } from '../payments/lookups/lookup-schedule.ts'
import {
  checkNonce,
  matchTransfer,
  searchOperation,
  type ChainSearch,
  type SearchProgress,
} from '../payments/lookups/find-on-chain.ts'

export type ReconcileContext = Pick<Context, 'db' | 'clock' | 'enclave' | 'chains' | 'logger' | 'measurements'>

/** The findings of one look-up. They are stored in the payment's row at the end. */
interface Findings {
  transfer: EnclaveTransfer | null
  search: SearchProgress
  senderNonce: bigint | null
}

/**
 * Looks up a payment that no request is waiting for: finds out on the chain and from the enclave what happened to it,
 * and records the result (D23). Never causes a signature. After each look-up that changes nothing, the wait for the
 * next one is longer.
 * @throws EnclaveUnavailable, ChainUnavailable
 */
export async function reconcilePayment(ctx: ReconcileContext, { payment }: { payment: Payment }): Promise<void> {
  const { searchedBlock, senderNonce } = payment
  const findings: Findings = { transfer: null, search: { searchedBlock, isUnfinished: false }, senderNonce }
  try {
    if (payment.txHash !== null && (await isSettled(ctx, payment))) return
    const outage = await searchForOperation(ctx, payment, findings)
    if (outage === 'found') return
    await askProvider(ctx, payment, findings)
    if (outage !== null) throw outage
  } finally {
    await saveFindings(ctx, payment, findings)
  }
}

/**
 * Reads the payment's receipt, and settles the payment if the receipt proves the outcome. Returns true if no further
 * look-up is needed, because the payment is settled or its transaction is in a block.
 */
async function isSettled(ctx: ReconcileContext, payment: Payment): Promise<boolean> {
  const [settled = payment] = await settlePayments(ctx, { mode: payment.mode, payments: [payment] })
  return settled.status !== 'pending' || settled.minedBlock !== null
}

/**
 * Searches the chain for the payment's user operation. If the chain is unavailable, returns the error instead of
 * throwing it, so that the caller can still ask the enclave.
 */
async function searchForOperation(
  ctx: ReconcileContext,
  payment: Payment,
  findings: Findings,
): Promise<'found' | ChainUnavailable | null> {
  if (payment.userOperationHash === null) return null
  try {
    const search = await searchOperation(ctx, payment, [payment.userOperationHash])
    if (search.kind === 'found') return await settleFound(ctx, search.payment)
    findings.search = search
    return null
  } catch (error) {
    if (error instanceof ChainUnavailable) return error
    throw error
  }
}

async function askProvider(ctx: ReconcileContext, payment: Payment, findings: Findings): Promise<void> {
  const { transfer, providerTime } = await ctx.enclave.findTransfer(referenceId(payment), payment.workspaceId)
  findings.transfer = transfer
  if (transfer === null) {
    await handleNoRecord(ctx, payment, { providerTime, findings })
    return
  }
  const current = await recordReport(ctx, payment, transfer)
  if (current === null) return
  const reportedHash = transfer.userOperationHash
  if (reportedHash !== null && reportedHash !== payment.userOperationHash) {
    const search = await searchOperation(ctx, { ...current, searchedBlock: null }, [reportedHash])
    if (search.kind === 'found') await settleFound(ctx, search.payment)
    return
  }
  if (payment.userOperationHash === null) await checkReport(ctx, current, { transfer, findings })
}

/**
 * Handles a payment that the enclave has no record of. Marks the payment as failed once we will no longer send it and,
 * by the enclave's own clock, no request for it can still arrive (D24b). If an earlier attempt had an unknown outcome,
 * or its process died, the chain is first searched up to its head, because the enclave may have sent the transfer
 * without keeping a record.
 */
async function handleNoRecord(
  ctx: ReconcileContext,
  payment: Payment,
  { providerTime, findings }: { providerTime: Date; findings: Findings },
): Promise<void> {
  const isOver = isNeverSentAgain(payment, ctx.clock.now()) && isFenceOver(payment, providerTime)
  if (isOutcomeUnknown(payment) && !isOver) return
  // Search for the transfer even if the payment has a hash, because a reorganization may have removed its transaction.
  // After a request without a response, `fencedUntil` is set. If the process died during the attempt, only
  // `requestExpiresAt` is set.
  const wasMaybeSent = payment.fencedUntil !== null || payment.requestExpiresAt !== null
  const mayHaveLanded = wasMaybeSent && payment.enclaveTransactionId === null
  if (mayHaveLanded) {
    const search = await matchTransfer(ctx, payment)
    if (await recordSearch(ctx, search, findings)) return
    if (search.kind !== 'absent') return
  }
  if (isOutcomeUnknown(payment)) await failPayment(ctx, { payment, code: 'never_received' })
}

/**
 * Handles a payment without a known user operation. Uses the status that the enclave reports, and whether another
 * transaction has used the nonce of the payment's transaction.
 */
async function checkReport(
  ctx: ReconcileContext,
  payment: Payment,
  { transfer, findings }: { transfer: EnclaveTransfer; findings: Findings },
): Promise<void> {
  const isOld = isTooOldToSend(payment, ctx.clock.now())
  const nonce = payment.txHash === null ? null : await checkNonce(ctx, payment, payment.txHash)
  findings.senderNonce = nonce?.senderNonce ?? null
  const nonceUsedAt = nonce?.nonceUsedAt ?? null
  if (nonceUsedAt === null && transfer.failure === null && !isOld) return
  const search = await matchTransfer(ctx, payment)
  if ((await recordSearch(ctx, search, findings)) || search.kind !== 'absent') return
  if (nonceUsedAt !== null && search.searchedTo >= nonceUsedAt) {
    await failPayment(ctx, { payment, code: 'replaced' })
  } else if (transfer.failure === 'reverted' && payment.txHash === null && isOld) {
    // Only in this case do we trust the enclave's report: we have no hash to look for, and the chain shows no such
    // transfer.
    await failPayment(ctx, { payment, code: 'reverted' })
  }
}

/**
 * Records what is new in the enclave's report: the payment's transaction hash, or only that the enclave accepted the
 * payment. Returns the current payment, or null if the payment has just got a new hash.
 */
async function recordReport(
  ctx: ReconcileContext,
  payment: Payment,
  transfer: EnclaveTransfer,
): Promise<Payment | null> {
  if (payment.txHash !== null) {
    if (transfer.txHash === null || transfer.txHash === payment.txHash) return payment
    await adoptHash(ctx, payment, transfer.txHash)
    return null
  }
  if (transfer.txHash === null && payment.enclaveTransactionId !== null) return payment
  const recorded = await recordAcceptance(ctx, { payment, accepted: transfer })
  return transfer.txHash === null ? recorded : null
}

async function adoptHash(ctx: ReconcileContext, payment: Payment, txHash: TxHash): Promise<void> {
  const now = ctx.clock.now()
  const adopted = await ctx.db.write(replaceHash(payment, txHash, { now, nextLookupAt: lookupAfterHash(now) }))
  if (adopted !== null) await settleFound(ctx, adopted)
}

/**
 * Settles the payment if the search found its transfer. Otherwise records in `findings` how far the search reached.
 * Returns whether the transfer was found.
 */
async function recordSearch(ctx: ReconcileContext, search: ChainSearch, findings: Findings): Promise<boolean> {
  if (search.kind === 'found') {
    await settleFound(ctx, search.payment)
    return true
  }
  findings.search = search
  return false
}

async function settleFound(ctx: ReconcileContext, payment: Payment): Promise<'found'> {
  await settlePayments(ctx, { mode: payment.mode, payments: [payment] })
  return 'found'
}

/** Stores the findings of the look-up. Has no effect if the look-up has already changed the payment. */
async function saveFindings(
  ctx: ReconcileContext,
  payment: Payment,
  { transfer, search, senderNonce }: Findings,
): Promise<void> {
  // A reported failure is a reason to search the chain, but never proof (D24a).
  const failure = transfer?.failure ?? null
  const reported = failure === null ? null : (`reported_${failure}` as const)
  if (reported !== null && reported !== payment.pendingReason) {
    ctx.logger.error(
      { ...nameInLog(payment), tx: payment.txHash, failure },
      'the enclave reports that a payment failed; the payment stays pending until the chain proves the failure',
    )
  }
  const isHashUnknown = transfer !== null && payment.txHash === null
  await ctx.db.write(
    recordLookup(payment, {
      reason: reported ?? (isHashUnknown ? 'hash_unknown' : payment.pendingReason),
      // A node may allow so few blocks in a query that the search needs several look-ups.
      nextLookupAt: nextLookupAt(search.isUnfinished ? 0 : payment.lookups + 1, ctx.clock.now()),
      searchedBlock: search.searchedBlock,
      senderNonce,
      userOperationHash: transfer?.userOperationHash ?? null,
    }),
  )
}
