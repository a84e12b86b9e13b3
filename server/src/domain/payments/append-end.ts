import type { Query } from '../../db/query.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import type { Payment } from './payment.ts'
import { paymentEvent } from './payment-event.ts'

/**
 * Returns the statements that report how a payment ended, for the transaction that ends it. An agent's payment has an
 * event (D43). A withdrawal has an entry in the audit log, because `/v1` and its events are about what agents do (D62).
 */
export function appendEnd(payment: Payment, now: Date): Query<unknown>[] {
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
