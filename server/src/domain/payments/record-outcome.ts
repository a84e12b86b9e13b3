import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { REQUEST_EXPIRED, type AcceptedTransfer, type TransferOutcome } from '../../enclave/enclave.ts'
import type { Context } from '../context.ts'
import { referenceId } from './derived-ids.ts'
import { failPayment } from './fail-payment.ts'
import { nextLookupAt } from './lookups/lookup-schedule.ts'
import { HASH_WAIT_MS, SEND_WINDOW_MS, type Payment, nameInLog } from './payment.ts'
import { recordAcceptance } from './record-acceptance.ts'
import { releaseAttempt } from './payments-store.ts'

export type RecordedOutcome =
  /** The enclave accepted the payment, or refused it and the payment failed. */
  | { readonly kind: 'done'; readonly payment: Payment }
  /** Nothing was sent. `isExpired` means that the request had expired by our estimate of the enclave's time. */
  | { readonly kind: 'not_sent'; readonly isExpired: boolean }
  /** The request may have been carried out, or may still arrive. */
  | { readonly kind: 'unknown'; readonly error: EnclaveUnavailable }

/** Records the outcome of an attempt to send a payment (D24). The payment stays pending unless the result is `done`. */
export async function recordOutcome(
  ctx: Context,
  payment: Payment,
  outcome: TransferOutcome,
): Promise<RecordedOutcome> {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'done', payment: await handleAccepted(ctx, payment, outcome) }
    case 'refused':
      return await handleRefused(ctx, payment, outcome)
    case 'not_sent':
      return await handleNotSent(ctx, payment, outcome)
    case 'unknown':
      return await handleUnknown(ctx, payment, outcome.error)
  }
}

/**
 * Records at once that the enclave accepted the payment. Then waits up to `HASH_WAIT_MS` for the transaction hash, so
 * that the response can contain it. If the hash arrives later, the reconciler records it (D24).
 */
async function handleAccepted(ctx: Context, payment: Payment, accepted: AcceptedTransfer): Promise<Payment> {
  const { transactionId, userOperationHash } = accepted
  const recorded = await recordAcceptance(ctx, { payment, accepted })
  if (recorded.txHash !== null || recorded.status !== 'pending') return recorded
  const txHash = await ctx.enclave.awaitTxHash(transactionId, {
    timeoutMs: HASH_WAIT_MS,
    workspaceId: payment.workspaceId,
  })
  if (txHash === null) return recorded
  return await recordAcceptance(ctx, { payment: recorded, accepted: { transactionId, txHash, userOperationHash } })
}

/**
 * Fails the payment. If there was an earlier attempt, first asks the enclave whether it accepted that earlier attempt.
 */
async function handleRefused(
  ctx: Context,
  payment: Payment,
  { status, code }: Extract<TransferOutcome, { kind: 'refused' }>,
): Promise<RecordedOutcome> {
  ctx.logger.warn({ ...nameInLog(payment), status, code }, 'the enclave refused a payment')
  if (payment.attempt > 1) {
    try {
      const { transfer } = await ctx.enclave.findTransfer(referenceId(payment), payment.workspaceId)
      if (transfer !== null)
        return { kind: 'done', payment: await recordAcceptance(ctx, { payment, accepted: transfer }) }
    } catch (error) {
      if (error instanceof EnclaveUnavailable) return await handleUnknown(ctx, payment, error)
      throw error
    }
  }
  return { kind: 'done', payment: await failPayment(ctx, { payment, code: 'enclave_refused' }) }
}

/**
 * Releases the attempt, so that a retry can start at once. If there is no retry, the reservation ends when the send
 * window is over.
 */
async function handleNotSent(
  ctx: Context,
  payment: Payment,
  { status, code, reason }: Extract<TransferOutcome, { kind: 'not_sent' }>,
): Promise<RecordedOutcome> {
  ctx.logger.error({ ...nameInLog(payment), status, code, reason }, 'the enclave provider did not send a payment')
  await ctx.db.write(
    releaseAttempt(payment, { mayArrive: false, reason: 'not_sent', nextLookupAt: lookupUnsentAt(ctx, payment) }),
    { isOutcome: true },
  )
  return { kind: 'not_sent', isExpired: code === REQUEST_EXPIRED }
}

/**
 * Returns when to look up a payment that was not sent. A payment is looked up soon if an earlier request may have been
 * carried out. Otherwise, a look-up before the end of the send window would find nothing. A withdrawal has no send
 * window, so it is looked up soon too, and this look-up ends it.
 */
function lookupUnsentAt(ctx: Context, payment: Payment): Date {
  const isDue = payment.fencedUntil !== null || payment.kind === 'withdrawal'
  return isDue ? nextLookupAt(payment.lookups, ctx.clock.now()) : new Date(payment.createdAt.getTime() + SEND_WINDOW_MS)
}

/**
 * Releases the attempt and sets the fence: nothing is sent again before this request has expired, because until then it
 * may still arrive at the enclave.
 */
async function handleUnknown(ctx: Context, payment: Payment, error: EnclaveUnavailable): Promise<RecordedOutcome> {
  const next = nextLookupAt(payment.lookups, ctx.clock.now())
  const release = releaseAttempt(payment, { mayArrive: true, reason: 'outcome_unknown', nextLookupAt: next })
  await ctx.db.write(release, { isOutcome: true })
  return { kind: 'unknown', error }
}
