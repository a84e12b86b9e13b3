import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import { lookupAfterAcceptance, lookupAfterHash } from './lookups/lookup-schedule.ts'
import type { Payment } from './payment.ts'
import { acceptTogether } from './accept-together.ts'
import { markAccepted, type Acceptance, type AcceptedSend } from './acceptances-store.ts'

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
  const updated = await mark(ctx, { payment, accepted, now, nextLookupAt })
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

/**
 * Records the acceptance together with others. If that failed or did not change the payment, a second statement records
 * the acceptance alone. The second statement waits if another transaction has locked the payment. It changes nothing if
 * the payment has moved on, or if the first statement was committed after all.
 */
async function mark({ db, logger }: Pick<Context, 'db' | 'logger'>, acceptance: Acceptance): Promise<Payment | null> {
  const { payment, accepted } = acceptance
  const together = await acceptTogether(db, acceptance).catch((error: unknown) => {
    logger.warn({ err: error, payment: payment.id }, 'acceptances could not be recorded together')
    return null
  })
  return together ?? (await db.runDurable(markAccepted(payment, accepted, acceptance), { isOutcome: true }))
}
