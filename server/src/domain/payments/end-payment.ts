import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import { getPayment } from './get-payment.ts'
import type { Payment } from './payment.ts'
import { paymentEvent } from './payment-event.ts'

export type EndContext = Pick<Context, 'db' | 'clock' | 'measurements'>

/**
 * Moves a pending payment to its end with the statement of `mark`, exactly once, and reports the end in the same
 * transaction, together with the statements of `also`. If another process has already moved the payment, nothing is
 * changed and the recorded payment is returned.
 */
export async function endPayment(
  ctx: EndContext,
  payment: Payment,
  mark: (now: Date) => Query<Payment | null>,
  also: (ended: Payment) => readonly Query<unknown>[] = () => [],
): Promise<Payment> {
  const end = async (transaction: Transaction): Promise<Payment | null> => {
    const now = ctx.clock.now()
    const ended = await transaction.run(mark(now))
    if (ended !== null) await transaction.commit([...appendEnd(ended, now), ...also(ended)])
    return ended
  }
  const ended = await ctx.db.transaction(end, { isOutcome: true })
  if (ended === null) return await getPayment(ctx, payment)
  ctx.measurements.paymentEnded(ended.mode, ended.kind, ended.failureCode ?? 'confirmed')
  return ended
}

/**
 * Returns the statements that report how a payment ended, for the transaction that ends it. An agent's payment has an
 * event (D43). A withdrawal has an entry in the audit log, because `/v1` and its events are about what agents do (D62).
 */
function appendEnd(payment: Payment, now: Date): Query<unknown>[] {
  const isConfirmed = payment.status === 'confirmed'
  if (payment.kind !== 'withdrawal') {
    return [...appendEvent(paymentEvent(isConfirmed ? 'payment.confirmed' : 'payment.failed', payment, now))]
  }
  const { workspaceId, mode, walletAddress: wallet, failureCode, txHash } = payment
  const action = isConfirmed ? 'withdrawal.confirmed' : 'withdrawal.failed'
  const details = { mode, wallet, tx_hash: txHash, ...(isConfirmed ? {} : { failure_code: failureCode }) }
  const entry = { logId: workspaceId, createdAt: now, actor: OPERATOR, action, subject: payment.id, details } as const
  return [insertAuditEntry(entry)]
}
