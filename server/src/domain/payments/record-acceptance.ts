import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import { lookAfterAcceptance, lookAfterHash } from './tracing/look-schedule.ts'
import type { Payment } from './payment.ts'
import { markAccepted, type AcceptedSend } from './payments-store.ts'

/** Records that the enclave accepted the payment, with or without a hash yet. */
export async function recordAcceptance(
  ctx: Pick<Context, 'db' | 'clock' | 'logger'>,
  { payment, found }: { payment: Payment; found: AcceptedSend },
): Promise<Payment> {
  const now = ctx.clock.now()
  const next = found.txHash === null ? lookAfterAcceptance(now) : lookAfterHash(now)
  const accepted = await ctx.db.runDurable(markAccepted(payment, found, { now, nextLookAt: next }))
  if (accepted !== null) return accepted
  const recorded = await getPayment(ctx, payment)
  if (recorded.status === 'failed') {
    ctx.logger.error(
      { payment: payment.id, tx: found.txHash },
      'the enclave accepted a payment that is recorded as failed',
    )
  }
  return recorded
}
