import { createId } from '../../values/ids.ts'
import type { DomainEvent } from '../events/event.ts'
import { formatPayment } from './format-payment.ts'
import type { Payment } from './payment.ts'

/** Builds the event that reports a change to a payment (D43). `data.payment` is the payment after the change. */
export function paymentEvent(
  type: 'payment.created' | 'payment.confirmed' | 'payment.failed',
  payment: Payment,
  now: Date,
): DomainEvent {
  return {
    id: createId('event', now),
    workspaceId: payment.workspaceId,
    mode: payment.mode,
    type,
    createdAt: now,
    data: { payment: formatPayment(payment) },
  }
}
