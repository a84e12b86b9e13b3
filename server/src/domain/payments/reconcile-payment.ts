import type { Context } from '../context.ts'
import { failPayment } from './fail-payment.ts'
import { isFenceOver, isUnsent, SETTLING_MS, type Payment } from './payment.ts'
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
  ctx: Pick<Context, 'db' | 'clock' | 'enclave' | 'logger'>,
  { payment }: { payment: Payment },
): Promise<void> {
  // Taken before the look-up: a fence that ends during it proves nothing about what was looked up.
  const now = ctx.clock.now()
  const settled = now.getTime() - payment.createdAt.getTime() >= SETTLING_MS && isFenceOver(payment, now)
  const found = await ctx.enclave.findTransfer(payment.id)
  if (found === null) {
    if (settled && isUnsent(payment)) await failPayment(ctx, { payment, code: 'never_received' })
    return
  }
  const givenUp = settled && GIVEN_UP.includes(found.status)
  if (found.txHash === null) {
    if (givenUp) await failPayment(ctx, { payment, code: 'never_mined' })
    else if (isUnsent(payment)) await recordEnclaveFind(ctx, { payment, found })
  } else if (payment.txHash === null) await recordEnclaveFind(ctx, { payment, found })
  else if (found.txHash !== payment.txHash) await ctx.db.write(replaceHash(payment, found.txHash))
  else if (givenUp) await failPayment(ctx, { payment, code: 'never_mined' })
}
