import { ChainUnavailable } from '../../chain/errors.ts'
import type { EnclaveTransfer } from '../../enclave/transactions.ts'
import type { Context } from '../context.ts'
import { failPayment } from './fail-payment.ts'
import {
  isFenceOver,
  isOutcomeUnknown,
  isTooOldToSend,
  type Payment,
  type PendingReason,
  type TxHash,
} from './payment.ts'
import { recordAcceptance } from './record-acceptance.ts'
import { settlePayments } from './settle-payments.ts'
import { recordLookup, replaceHash } from './payments-store.ts'
import { lookupAfterHash, nextLookupAt } from './lookups/lookup-schedule.ts'
import { checkNonce, matchTransfer, searchOperation, type ChainSearch } from './lookups/find-on-chain.ts'

export type ReconcileContext = Pick<Context, 'db' | 'clock' | 'enclave' | 'chains' | 'logger'>

/** What the provider's statuses mean to us: reasons to look at the chain, never proof (D24a). */
const REASONS_BY_STATUS: Readonly<Record<string, PendingReason>> = {
  failed: 'reported_failed',
  provider_error: 'reported_failed',
  replaced: 'reported_replaced',
  execution_reverted: 'reported_reverted',
}

/** What one look-up has found out. It is stored on the payment's row at the end. */
interface Findings {
  transfer: EnclaveTransfer | null
  searchedBlock: bigint | null
  senderNonce: bigint | null
}

/**
 * Finds out on the chain and at the provider what happened to a payment that no request is waiting for, and records it
 * (D23). It never causes a signature. Each look-up that changes nothing makes the wait for the next one longer.
 * @throws EnclaveUnavailable, ChainUnavailable
 */
export async function reconcilePayment(ctx: ReconcileContext, { payment }: { payment: Payment }): Promise<void> {
  const { searchedBlock, senderNonce } = payment
  const findings: Findings = { transfer: null, searchedBlock, senderNonce }
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

/** Reads the receipt, which may prove something by now. A transaction that is in a block needs no further look-up. */
async function isSettled(ctx: ReconcileContext, payment: Payment): Promise<boolean> {
  const [settled = payment] = await settlePayments(ctx, { mode: payment.mode, payments: [payment] })
  return settled.status !== 'pending' || settled.minedBlock !== null
}

/** Returns the chain's error instead of throwing it, so that the provider is asked even while the chain is unavailable. */
async function searchForOperation(
  ctx: ReconcileContext,
  payment: Payment,
  findings: Findings,
): Promise<'found' | ChainUnavailable | null> {
  if (payment.userOperationHash === null) return null
  try {
    const search = await searchOperation(ctx, payment, [payment.userOperationHash])
    if (search.kind === 'found') return await settleFound(ctx, search.payment)
    findings.searchedBlock = search.searchedBlock
    return null
  } catch (error) {
    if (error instanceof ChainUnavailable) return error
    throw error
  }
}

async function askProvider(ctx: ReconcileContext, payment: Payment, findings: Findings): Promise<void> {
  const { transfer, providerTime } = await ctx.enclave.findTransfer(payment.id)
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
 * Handles a payment that the provider has no record of. It fails if the time in which it may be sent is over, and no
 * request for it can still arrive by the provider's own clock (D24b). After an attempt whose outcome was unknown, the
 * chain must have been searched up to its head first, because the provider may have kept no record.
 */
async function handleNoRecord(
  ctx: ReconcileContext,
  payment: Payment,
  { providerTime, findings }: { providerTime: Date; findings: Findings },
): Promise<void> {
  const isOver = isTooOldToSend(payment, ctx.clock.now()) && isFenceOver(payment, providerTime)
  if (isOutcomeUnknown(payment) && !isOver) return
  // A payment with a hash is searched for as well: a reorganization may have removed its transaction.
  const mayHaveLanded = payment.fencedUntil !== null && payment.enclaveTransactionId === null
  if (mayHaveLanded) {
    const search = await matchTransfer(ctx, payment)
    if (await recordSearch(ctx, search, findings)) return
    if (search.kind !== 'absent') return
  }
  if (isOutcomeUnknown(payment)) await failPayment(ctx, { payment, code: 'never_received' })
}

/** Handles a payment without a user operation: by the provider's report, and by the nonce of its transaction. */
async function checkReport(
  ctx: ReconcileContext,
  payment: Payment,
  { transfer, findings }: { transfer: EnclaveTransfer; findings: Findings },
): Promise<void> {
  const isOld = isTooOldToSend(payment, ctx.clock.now())
  const nonce = payment.txHash === null ? null : await checkNonce(ctx, payment, payment.txHash)
  findings.senderNonce = nonce?.senderNonce ?? null
  const nonceUsedAt = nonce?.nonceUsedAt ?? null
  if (nonceUsedAt === null && REASONS_BY_STATUS[transfer.status] === undefined && !isOld) return
  const search = await matchTransfer(ctx, payment)
  if ((await recordSearch(ctx, search, findings)) || search.kind !== 'absent') return
  if (nonceUsedAt !== null && (search.searchedBlock ?? -1n) >= nonceUsedAt) {
    await failPayment(ctx, { payment, code: 'replaced' })
  } else if (transfer.status === 'execution_reverted' && payment.txHash === null && isOld) {
    // Here the provider's report decides: there is no hash to look for, and the chain shows no such transfer.
    await failPayment(ctx, { payment, code: 'reverted' })
  }
}

/** Records an acceptance or a hash that was not known. Returns the current payment, or null if its hash is new. */
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
  const adopted = await ctx.db.runDurable(replaceHash(payment, txHash, { now, nextLookupAt: lookupAfterHash(now) }))
  if (adopted !== null) await settleFound(ctx, adopted)
}

/** Returns whether the search found the transfer. */
async function recordSearch(ctx: ReconcileContext, search: ChainSearch, findings: Findings): Promise<boolean> {
  if (search.kind === 'found') {
    await settleFound(ctx, search.payment)
    return true
  }
  findings.searchedBlock = search.searchedBlock
  return false
}

async function settleFound(ctx: ReconcileContext, payment: Payment): Promise<'found'> {
  await settlePayments(ctx, { mode: payment.mode, payments: [payment] })
  return 'found'
}

/** Stores what the look-up found out. Has no effect if the look-up has already changed the payment. */
async function saveFindings(
  ctx: ReconcileContext,
  payment: Payment,
  { transfer, searchedBlock, senderNonce }: Findings,
): Promise<void> {
  const reported = transfer === null ? undefined : REASONS_BY_STATUS[transfer.status]
  if (reported !== undefined && reported !== payment.pendingReason) {
    ctx.logger.error(
      { payment: payment.id, tx: payment.txHash, status: transfer?.status },
      'the enclave provider reports that a payment failed; it stays pending until the chain proves it',
    )
  }
  const isHashUnknown = transfer !== null && payment.txHash === null
  await ctx.db.runDurable(
    recordLookup(payment, {
      reason: reported ?? (isHashUnknown ? 'hash_unknown' : payment.pendingReason),
      nextLookupAt: nextLookupAt(payment.lookups + 1, ctx.clock.now()),
      searchedBlock,
      senderNonce,
      userOperationHash: transfer?.userOperationHash ?? null,
    }),
  )
}
