import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { REQUEST_EXPIRED, type AcceptedTransfer, type TransferOutcome } from '../../enclave/send-transfer.ts'
import { paymentCallFailed, type Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { signerSealContext } from '../agents/signer-seal-context.ts'
import type { SigningParties } from './admission/admission-store.ts'
import { attemptKey } from './attempt-key.ts'
import { failPayment } from './fail-payment.ts'
import { nextLookupAt } from './lookups/lookup-schedule.ts'
import { ATTEMPT_MS, HASH_WAIT_MS, SEND_WINDOW_MS, type Payment } from './payment.ts'
import { recordAcceptance } from './record-acceptance.ts'
import { releaseAttempt } from './payments-store.ts'

/** The result of one attempt. `expired`: nothing was sent, because our estimate of the provider's time was wrong. */
export type Submission = { readonly kind: 'done'; readonly payment: Payment } | { readonly kind: 'expired' }

/**
 * Sends a reserved payment to the enclave. The caller holds the payment's attempt. If the enclave accepts, the hash is
 * recorded. If it refuses, the payment fails and its reservation ends. If the payment was not sent, or that is unknown,
 * it stays pending, and this throws 500 `privy_call_failed` (D24).
 */
export async function submitPayment(
  ctx: Context,
  { payment, signing }: { payment: Payment; signing: SigningParties },
): Promise<Submission> {
  const outcome = await ctx.enclave.sendTransfer(buildOrder(ctx, payment, signing))
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'done', payment: await handleAccepted(ctx, payment, outcome) }
    case 'refused':
      return { kind: 'done', payment: await handleRefused(ctx, payment, outcome) }
    case 'not_sent':
      return await handleNotSent(ctx, payment, outcome)
    case 'unknown':
      throw await handleUnknown(ctx, payment, outcome.error)
  }
}

function buildOrder(ctx: Context, payment: Payment, signing: SigningParties) {
  const { mode } = payment
  return {
    enclaveWalletId: signing.enclaveWalletId,
    signerPrivateKey: ctx.sealer.open(
      signing.signerPrivateKeySealed,
      signerSealContext(payment.accountId, mode, payment.agentId),
    ),
    chainId: ctx.chains[mode].chainId,
    contract: ctx.chains[mode].usdc,
    to: payment.to,
    amountMicro: payment.amountMicro,
    sponsored: ctx.chains[mode].gas === 'sponsored',
    referenceId: payment.id,
    attemptKey: attemptKey(payment),
    // The provider rejects a request that arrives late, when another process may have claimed the next attempt.
    expiresAt: payment.requestExpiresAt ?? ctx.enclave.toEnclaveTime(new Date(ctx.clock.now().getTime() + ATTEMPT_MS)),
  }
}

/**
 * Records the acceptance at once. A hash that arrives within `HASH_WAIT_MS` becomes part of the response; the reconciler
 * records a later one (D24).
 */
async function handleAccepted(ctx: Context, payment: Payment, accepted: AcceptedTransfer): Promise<Payment> {
  const { transactionId, userOperationHash } = accepted
  const recorded = await recordAcceptance(ctx, { payment, accepted })
  if (recorded.txHash !== null || recorded.status !== 'pending') return recorded
  const txHash = await ctx.enclave.awaitTxHash(transactionId, { timeoutMs: HASH_WAIT_MS })
  if (txHash === null) return recorded
  return await recordAcceptance(ctx, { payment: recorded, accepted: { transactionId, txHash, userOperationHash } })
}

/** Fails the payment. If there was an earlier attempt, first asks the provider whether it accepted that one. */
async function handleRefused(
  ctx: Context,
  payment: Payment,
  { status, code }: Extract<TransferOutcome, { kind: 'refused' }>,
): Promise<Payment> {
  ctx.logger.warn({ payment: payment.id, status, code }, 'the enclave refused a payment')
  if (payment.attempt > 1) {
    const { transfer } = await ctx.enclave.findTransfer(payment.id).catch(async (error: unknown) => {
      throw error instanceof EnclaveUnavailable ? await handleUnknown(ctx, payment, error) : error
    })
    if (transfer !== null) return await recordAcceptance(ctx, { payment, accepted: transfer })
  }
  return await failPayment(ctx, { payment, code: 'enclave_refused' })
}

/** Releases the attempt, so that a retry can start at once. Without a retry, the reservation ends with the send window. */
async function handleNotSent(
  ctx: Context,
  payment: Payment,
  { status, code, reason }: Extract<TransferOutcome, { kind: 'not_sent' }>,
): Promise<Submission> {
  ctx.logger.error({ payment: payment.id, status, code, reason }, 'the enclave provider did not send a payment')
  // Unless an earlier request may have been carried out, there is nothing to look up before the send window is over.
  const isFenced = payment.fencedUntil !== null
  const sendWindowEndsAt = new Date(payment.createdAt.getTime() + SEND_WINDOW_MS)
  const next = isFenced ? nextLookupAt(payment.lookups, ctx.clock.now()) : sendWindowEndsAt
  await ctx.db.runDurable(releaseAttempt(payment, { mayArrive: false, reason: 'not_sent', nextLookupAt: next }))
  if (code === REQUEST_EXPIRED) return { kind: 'expired' }
  throw paymentCallFailed(payment)
}

/** Sets the fence: the request may still arrive until it expires, so nothing is sent again before then. */
async function handleUnknown(ctx: Context, payment: Payment, error: EnclaveUnavailable): Promise<Problem> {
  const next = nextLookupAt(payment.lookups, ctx.clock.now())
  await ctx.db.runDurable(releaseAttempt(payment, { mayArrive: true, reason: 'outcome_unknown', nextLookupAt: next }))
  return paymentCallFailed(payment, error)
}
