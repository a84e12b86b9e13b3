import { Type } from 'typebox'
import { formatPurchase } from '../domain/purchases/format-purchase.ts'
import { PurchaseSchema } from '../domain/purchases/purchase-schema.ts'
import type { Purchase } from '../domain/purchases/purchase.ts'
import { markUntrusted, UntrustedTextSchema } from './untrusted-text.ts'

/** What a payment bought, as tools show it: the schema of `/v1`, with the seller's words marked as untrusted. */
export const BoughtSchema = Type.Object(
  {
    ...Type.Omit(PurchaseSchema, ['description']).properties,
    description: Type.Union([UntrustedTextSchema, Type.Null()]),
  },
  { description: 'The web resource that the payment is for.' },
)

export function formatBought(purchase: Purchase): Record<string, unknown> {
  const { description, ...rest } = formatPurchase(purchase)
  return { ...rest, description: markUntrusted(description) }
}

/** Says what a payment was made for, and whether the seller delivered, in one sentence. */
export function describeBought({ method, resourceUrl, delivery, respondedAt }: Purchase): string {
  if (delivery === null) return `According to the agent, the payment is for ${resourceUrl}.`
  const outcome = delivery === 'unknown' && respondedAt !== null ? 'partial' : delivery
  return `The payment is for ${method} ${resourceUrl}${OUTCOMES[outcome]}.`
}

const OUTCOMES = {
  delivered: ', and the seller delivered',
  failed: ', but the seller did not deliver',
  unknown: ', and no answer of the seller has arrived',
  partial: ', and only a part of the answer of the seller has arrived',
} as const
