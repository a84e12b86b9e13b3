import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { problem, type Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { signerSealContext } from '../agents/signer-seal.ts'
import type { SigningParties } from './admission/store.ts'
import { attemptKey } from './attempt-key.ts'
import { failPayment } from './fail-payment.ts'
import { ATTEMPT_MS, HASH_WAIT_MS, type Payment } from './payment.ts'
import { recordEnclaveFind } from './record-enclave-find.ts'
import { giveBackAttempt } from './store.ts'

/**
 * Sends a reservation to the enclave: the attempt that the payment's row is held for. Accepted: the hash is recorded.
 * Refused: the payment fails, and what it reserved is given back (D24). No answer: 500 `privy_call_failed`, and the
 * record stays pending, since the outcome is not known.
 */
export async function submitPayment(
  ctx: Context,
  { payment, signing }: { payment: Payment; signing: SigningParties },
): Promise<Payment> {
  const { mode } = payment
  try {
    const answer = await ctx.enclave.sendTransfer({
      enclaveWalletId: signing.enclaveWalletId,
      signerPrivateKey: ctx.sealer.open(
        signing.signerPrivateKeySealed,
        signerSealContext(payment.accountId, mode, payment.agentId),
      ),
      chainId: ctx.chains[mode].chainId,
      contract: ctx.chains[mode].usdc,
      to: payment.to,
      amountMicro: payment.amountMicro,
      referenceId: payment.id,
      attemptKey: attemptKey(payment),
      // A request that arrives late, when others may have taken over, is refused by the enclave.
      expiresAt: payment.attemptUntil ?? new Date(ctx.clock.now().getTime() + ATTEMPT_MS),
    })
    if (answer.kind === 'refused') {
      ctx.logger.warn({ payment: payment.id, code: answer.code }, 'the enclave refused a payment')
      return await failPayment(ctx, { payment, code: 'enclave_refused' })
    }
    const { transactionId } = answer
    const txHash = answer.txHash ?? (await awaitHash(ctx, transactionId))
    return await recordEnclaveFind(ctx, { payment, found: { transactionId, txHash } })
  } catch (error) {
    if (!(error instanceof EnclaveUnavailable)) throw error
    await ctx.db.write(giveBackAttempt(payment, { unanswered: isUnanswered(error) }))
    throw callFailed(payment, error)
  }
}

/** Names the payment, so that a caller without an idempotency key can ask for it later. */
export function callFailed({ id }: Payment, cause?: unknown): Problem {
  return problem('privy_call_failed', { cause, details: { payment_id: id } })
}

/** These tell that the request was turned away; without an answer, or with a gateway's, it may still be on its way. */
const TURNED_AWAY_STATUSES: readonly (number | null)[] = [
  400, 401, 402, 404, 405, 409, 413, 414, 415, 422, 429, 431, 500, 503,
]

function isUnanswered({ status, code }: EnclaveUnavailable): boolean {
  return !TURNED_AWAY_STATUSES.includes(status) && code !== 'request_expired'
}

/** The send is accepted; a hash that can't be had in time is the reconciler's to fill in (D24). */
async function awaitHash(ctx: Context, transactionId: string) {
  try {
    return await ctx.enclave.awaitTxHash(transactionId, { timeoutMs: HASH_WAIT_MS })
  } catch (error) {
    if (error instanceof EnclaveUnavailable) return null
    throw error
  }
}
