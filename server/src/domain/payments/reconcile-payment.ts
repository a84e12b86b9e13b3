import type { Context } from '../context.ts'
import { failPayment } from './fail-payment.ts'
import { SETTLING_MS, type Payment } from './payment.ts'
import { recordEnclaveFind } from './record-enclave-find.ts'
import { replaceHash } from './store.ts'

/** What the enclave calls a transaction that it gave up on. */
const GIVEN_UP: readonly string[] = ['failed', 'provider_error']

/**
 * Asks the enclave what became of a payment that nobody drives on (D23), and records that. It never causes a signature.
 * Never received and past the settling time: failed. Signed: its hash. Given up, or sent anew under another hash: so.
 * Throws `EnclaveUnavailable`.
 */
export async function reconcilePayment(
  ctx: Pick<Context, 'db' | 'clock' | 'enclave'>,
  { payment }: { payment: Payment },
): Promise<void> {
  const found = await ctx.enclave.findTransfer(payment.id)
  const settled = ctx.clock.now().getTime() - payment.createdAt.getTime() >= SETTLING_MS
  if (found === null) {
    if (settled && payment.txHash === null) await failPayment(ctx, { payment, code: 'never_received' })
    return
  }
  if (payment.txHash === null) {
    if (settled && found.txHash === null && GIVEN_UP.includes(found.status)) {
      await failPayment(ctx, { payment, code: 'never_mined' })
    } else if (found.txHash !== null || payment.enclaveTransactionId === null) {
      await recordEnclaveFind(ctx, { payment, found })
    }
    return
  }
  if (found.txHash !== null && found.txHash !== payment.txHash) await ctx.db.write(replaceHash(payment, found.txHash))
  else if (settled && GIVEN_UP.includes(found.status)) await failPayment(ctx, { payment, code: 'never_mined' })
}
