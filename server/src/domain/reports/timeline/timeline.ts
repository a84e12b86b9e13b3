import type { Delivery } from '../../webhooks/delivery.ts'

/** An event about a payment, and its deliveries. */
export interface PaymentEvent {
  readonly id: string
  readonly type: string
  readonly createdAt: Date
  readonly deliveries: readonly SentDelivery[]
}

export interface SentDelivery {
  readonly delivery: Delivery
  /** The URL that the delivery's endpoint has now. */
  readonly url: string
}
