import type { Delivery } from '../../webhooks/delivery.ts'

/** An event that tells of a payment, and where it was sent. */
export interface PaymentEvent {
  readonly id: string
  readonly type: string
  readonly createdAt: Date
  readonly deliveries: readonly SentDelivery[]
}

export interface SentDelivery {
  readonly delivery: Delivery
  /** Where its endpoint is now. */
  readonly url: string
}
