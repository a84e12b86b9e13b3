import { paymentCallFailed } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { slotSealContext } from '../wallets/slot-seal-context.ts'
import { attemptKey } from './attempt-key.ts'
import { referenceId } from './derived-ids.ts'
import { ATTEMPT_MS, type Payment } from './payment.ts'
import { recordOutcome } from './record-outcome.ts'
import type { SigningParties } from './signing-store.ts'

/**
 * The result of one attempt to send a payment. `expired` means that nothing was sent, because our estimate of the
 * enclave's time was wrong.
 */
export type Submission = { readonly kind: 'done'; readonly payment: Payment } | { readonly kind: 'expired' }

/**
 * Sends a reserved payment to the enclave. The caller must have claimed the payment's attempt. If the enclave accepts
 * the payment, its hash is recorded. If the enclave refuses it, the payment fails and its reservation ends. If the
 * payment was not sent, or we do not know whether it was, it stays pending. Then this function throws 500
 * `privy_call_failed` (D24), or returns `expired` if the request had expired.
 */
export async function submitPayment(
  ctx: Context,
  { payment, signing }: { payment: Payment; signing: SigningParties },
): Promise<Submission> {
  const outcome = await ctx.enclave.sendTransfer(buildOrder(ctx, payment, signing))
  const recorded = await recordOutcome(ctx, payment, outcome)
  switch (recorded.kind) {
    case 'done':
      return recorded
    case 'not_sent':
      if (recorded.isExpired) return { kind: 'expired' }
      throw paymentCallFailed(payment)
    case 'unknown':
      throw paymentCallFailed(payment, recorded.error)
  }
}

function buildOrder(ctx: Context, payment: Payment, signing: SigningParties) {
  const { mode } = payment
  return {
    enclaveWalletId: signing.enclaveWalletId,
    signerPrivateKey: ctx.sealer.open(signing.signerKey.sealed, slotSealContext(payment, signing.signerKey.slot)),
    chainId: ctx.chains[mode].chainId,
    contract: ctx.chains[mode].usdc,
    to: payment.to,
    amountMicro: payment.amountMicro,
    sponsored: ctx.chains[mode].gas === 'sponsored',
    referenceId: referenceId(payment),
    attemptKey: attemptKey(payment),
    // The enclave rejects a request that arrives after this time. By then, another process may have claimed the next
    // attempt.
    expiresAt: payment.requestExpiresAt ?? ctx.enclave.toEnclaveTime(new Date(ctx.clock.now().getTime() + ATTEMPT_MS)),
  }
}
