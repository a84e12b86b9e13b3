import { Type } from 'typebox'
import type { Payment } from '../payments/payment.ts'
import type { Purchase } from './purchase.ts'
import { PurchaseSchema } from './purchase-schema.ts'

/** What a list shows of a purchase. */
export type PurchaseSummary = Pick<Purchase, 'paymentId' | 'resourceUrl' | 'host' | 'delivery'> & {
  /** Whether a member has marked the purchase, which was not delivered, as resolved. */
  readonly isResolved: boolean
}

/** A payment in a list. `purchase` is null if the payment is no purchase. */
export type ListedPayment = Payment & { readonly purchase: PurchaseSummary | null }

export const PurchaseSummarySchema = Type.Object({
  ...Type.Pick(PurchaseSchema, ['resource_url', 'host', 'delivery']).properties,
  is_resolved: Type.Boolean(),
})

/** Formats what the dashboard's lists show of a purchase. */
export function formatPurchaseSummary({ resourceUrl, host, delivery, isResolved }: PurchaseSummary) {
  return { resource_url: resourceUrl, host, delivery, is_resolved: isResolved }
}
