import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import type { Payment, TxHash } from './payment.ts'
import { markAccepted } from './store.ts'

/** Records that the enclave accepted the payment, with or without a hash yet. */
export async function recordEnclaveFind(
  ctx: Pick<Context, 'db' | 'clock' | 'logger'>,
  { payment, found }: { payment: Payment; found: { transactionId: string; txHash: TxHash | null } },
): Promise<Payment> {
  const accepted = await ctx.db.write(markAccepted(payment, found, ctx.clock.now()))
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
