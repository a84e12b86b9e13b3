import { formatAmount } from '../../values/money.ts'
import type { PublicPreview } from '../payment-requests/preview-schema.ts'
import { formatPreview } from '../payment-requests/format-preview.ts'
import type { CheckedPrice } from './check-resource.ts'
import { describeResource } from './describe-resource.ts'
import type { Purchase } from './purchase.ts'
import type { PublicAnswer, PublicPurchase } from './purchase-schema.ts'
import type { KeptAnswer } from './seal-purchase.ts'

/** Formats a purchase for `/v1`. */
export function formatPurchase(purchase: Purchase): PublicPurchase {
  return {
    resource_url: purchase.resourceUrl,
    host: purchase.host,
    method: purchase.method,
    protocol: purchase.protocol,
    description: purchase.description,
    delivery: purchase.delivery,
    response_status: purchase.responseStatus,
    responded_at: purchase.respondedAt?.toISOString() ?? null,
  }
}

/** Formats a seller's response for `/v1`. */
export function formatAnswer({ status, headers, body, bodyBase64, isTruncated }: KeptAnswer): PublicAnswer {
  return { status, headers: { ...headers }, body, body_base64: bodyBase64, truncated: isTruncated }
}

/** Formats the price of a resource for `/v1`. */
export function formatPrice({ status, required, url, offer, preview }: CheckedPrice) {
  const allowed: PublicPreview | null = preview === null ? null : formatPreview(preview)
  const words = offer ?? required
  return {
    status,
    protocol: words?.protocol ?? null,
    resource: {
      url: describeResource(url).resourceUrl,
      description: words?.description ?? null,
      mime_type: words?.mimeType ?? null,
    },
    options: (required?.offers ?? []).map(({ protocol, amountMicro, payTo, flow }) => {
      return { protocol, amount_usdc: formatAmount(amountMicro), pay_to: payTo, flow }
    }),
    skipped: required?.skipped ?? [],
    unread_options: required?.unread ?? 0,
    price_usdc: offer === null ? null : formatAmount(offer.amountMicro),
    allowed,
  }
}
