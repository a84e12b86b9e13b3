import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { REQUEST_EXPIRED, type AcceptedTransfer, type TransferAnswer } from '../../enclave/send-transfer.ts'
import { paymentCallFailed, type Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { signerSealContext } from '../agents/signer-seal.ts'
import type { SigningParties } from './admission/admission-store.ts'
import { attemptKey } from './attempt-key.ts'
import { failPayment } from './fail-payment.ts'
import { nextLookAt } from './tracing/look-schedule.ts'
import { ATTEMPT_MS, HASH_WAIT_MS, SETTLING_MS, type Payment } from './payment.ts'
import { recordAcceptance } from './record-acceptance.ts'
import { giveBackAttempt } from './payments-store.ts'

/** What an attempt came to. `expired`: nothing was sent, because our idea of the provider's time was wrong. */
export type Submission = { readonly kind: 'done'; readonly payment: Payment } | { readonly kind: 'expired' }

/**
 * Sends a reservation to the enclave: the attempt that the payment's row is held for. Accepted: the hash is recorded.
 * Refused: the payment fails, and what it reserved is given back. Not sent, or not known: 500 `privy_call_failed`, and
 * the record stays pending (D24).
 */
export async function submitPayment(
  ctx: Context,
  { payment, signing }: { payment: Payment; signing: SigningParties },
): Promise<Submission> {
  const answer = await ctx.enclave.sendTransfer(makeOrder(ctx, payment, signing))
  switch (answer.kind) {
    case 'accepted':
      return { kind: 'done', payment: await recordAccepted(ctx, payment, answer) }
    case 'refused':
      return { kind: 'done', payment: await endRefused(ctx, payment, answer) }
    case 'not_sent':
      return await giveBackUnsent(ctx, payment, answer)
    case 'unknown':
      throw await holdFence(ctx, payment, answer.error)
  }
}

function makeOrder(ctx: Context, payment: Payment, signing: SigningParties) {
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
    // A request that arrives late, when another process may have taken over, is rejected by the provider.
    expiresAt: payment.requestExpiresAt ?? ctx.enclave.toEnclaveTime(new Date(ctx.clock.now().getTime() + ATTEMPT_MS)),
  }
}

/**
 * Acceptance is recorded as soon as it is known. A hash that comes within `HASH_WAIT_MS` is part of the response; a later
 * one is filled in by the reconciler (D24).
 */
async function recordAccepted(ctx: Context, payment: Payment, accepted: AcceptedTransfer): Promise<Payment> {
  const { transactionId, userOperationHash } = accepted
  const recorded = await recordAcceptance(ctx, { payment, found: accepted })
  if (recorded.txHash !== null || recorded.status !== 'pending') return recorded
  const txHash = await ctx.enclave.awaitTxHash(transactionId, { timeoutMs: HASH_WAIT_MS })
  if (txHash === null) return recorded
  return await recordAcceptance(ctx, { payment: recorded, found: { transactionId, txHash, userOperationHash } })
}

/** After an earlier attempt, the provider is asked whether that one got through before the payment is ended. */
async function endRefused(
  ctx: Context,
  payment: Payment,
  { status, code }: Extract<TransferAnswer, { kind: 'refused' }>,
): Promise<Payment> {
  ctx.logger.warn({ payment: payment.id, status, code }, 'the enclave refused a payment')
  if (payment.attempt > 1) {
    const { transfer } = await ctx.enclave.findTransfer(payment.id).catch(async (error: unknown) => {
      throw error instanceof EnclaveUnavailable ? await holdFence(ctx, payment, error) : error
    })
    if (transfer !== null) return await recordAcceptance(ctx, { payment, found: transfer })
  }
  return await failPayment(ctx, { payment, code: 'enclave_refused' })
}

/** Nothing was sent: a retry may begin at once. Without one, the reservation ends after the settling time. */
async function giveBackUnsent(
  ctx: Context,
  payment: Payment,
  { status, code, reason }: Extract<TransferAnswer, { kind: 'not_sent' }>,
): Promise<Submission> {
  ctx.logger.error({ payment: payment.id, status, code, reason }, 'the enclave provider did not send a payment')
  // Unless an earlier request may have been carried out, there is nothing to look up before it is too old to be sent.
  const isFenced = payment.fencedUntil !== null
  const settledAt = new Date(payment.createdAt.getTime() + SETTLING_MS)
  const next = isFenced ? nextLookAt(payment.looks, ctx.clock.now()) : settledAt
  await ctx.db.runDurable(giveBackAttempt(payment, { mayArrive: false, reason: 'not_sent', nextLookAt: next }))
  if (code === REQUEST_EXPIRED) return { kind: 'expired' }
  throw callFailed(payment)
}

/** The request may still arrive until it expires: until then nothing is sent again. */
async function holdFence(ctx: Context, payment: Payment, error: EnclaveUnavailable): Promise<Problem> {
  const next = nextLookAt(payment.looks, ctx.clock.now())
  await ctx.db.runDurable(giveBackAttempt(payment, { mayArrive: true, reason: 'outcome_unknown', nextLookAt: next }))
  return callFailed(payment, error)
}

/** Says whether a retry is safe (D58). */
export function callFailed(payment: Payment, cause?: unknown): Problem {
  return paymentCallFailed(payment, cause)
}
