import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import { lookupAfterAcceptance, lookupAfterHash } from './lookups/lookup-schedule.ts'
import type { Payment } from './payment.ts'
import { markAccepted, type AcceptedSend } from './payments-store.ts'

/**
 * Records that the enclave accepted the payment, whether or not the transaction hash is known yet. Returns the recorded
 * payment.
 */
export async function recordAcceptance(
  ctx: Pick<Context, 'db' | 'clock' | 'logger'>,
  { payment, accepted }: { payment: Payment; accepted: AcceptedSend },
): Promise<Payment> {
  const now = ctx.clock.now()
  const nextLookupAt = accepted.txHash === null ? lookupAfterAcceptance(now) : lookupAfterHash(now)
  const accept = markAccepted(payment, accepted, { now, nextLookupAt })
  const updated = await ctx.db.runDurable(accept, { isOutcome: true })
  if (updated !== null) return updated
  const recorded = await getPayment(ctx, payment)
  if (recorded.status === 'failed') {
    ctx.logger.error(
      { payment: payment.id, tx: accepted.txHash },
      'the enclave accepted a payment that is recorded as failed',
    )
  }
  return recorded
}
