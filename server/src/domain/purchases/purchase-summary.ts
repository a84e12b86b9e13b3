import { Type } from 'typebox'
import type { Payment } from '../payments/payment.ts'
import type { Purchase } from './purchase.ts'
import { PurchaseSchema } from './purchase-schema.ts'

/** What a list shows of a purchase. */
export type PurchaseSummary = Pick<Purchase, 'paymentId' | 'resourceUrl' | 'host' | 'delivery'>

/** A payment in a list. `purchase` is null if the payment is no purchase. */
export type ListedPayment = Payment & { readonly purchase: PurchaseSummary | null }

export const PurchaseSummarySchema = Type.Pick(PurchaseSchema, ['resource_url', 'host', 'delivery'])

/** Formats what the dashboard's lists show of a purchase. */
export function formatPurchaseSummary({ resourceUrl, host, delivery }: PurchaseSummary) {
  return { resource_url: resourceUrl, host, delivery }
}
