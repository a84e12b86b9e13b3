import { gathered } from '../../db/gathered-query.ts'
import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import { lookupAfterAcceptance, lookupAfterHash } from './lookups/lookup-schedule.ts'
import { nameInLog, type Payment } from './payment.ts'
import { markAccepted, markFreeAccepted, type Acceptance, type AcceptedSend } from './acceptances-store.ts'

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
      { ...nameInLog(payment), tx: accepted.txHash },
      'the enclave accepted a payment that is recorded as failed',
    )
  }
  return recorded
}

/** A statement never has two acceptances of one payment. */
const ACCEPTANCES = gathered({ keyOf: ({ payment }: Acceptance) => payment.id, queryOf: markFreeAccepted })

/**
 * Records the acceptance together with others that arrive now. This commit does not wait for the disk (decision 0038).
 * If the payment was locked or the statement failed, a second statement waits for the lock. It changes nothing if the
 * payment has moved on, or if the first statement was committed after all.
 */
async function mark({ db, logger }: Pick<Context, 'db' | 'logger'>, acceptance: Acceptance): Promise<Payment | null> {
  const together = await db.gather(ACCEPTANCES, acceptance).catch((error: unknown) => {
    logger.warn({ err: error, ...nameInLog(acceptance.payment) }, 'acceptances could not be recorded together')
    return null
  })
  if (together !== null) return together
  const [alone = null] = await db.write(markAccepted([acceptance]), { isOutcome: true })
  return alone
}
