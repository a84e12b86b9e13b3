import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import type { Scope } from '../../values/scope.ts'
import { chooseOffer } from '../../x402/choose-offer.ts'
import type { Offer, PaymentRequired } from '../../x402/payment-required.ts'
import { OFFER_BODY_BYTES_MAX } from '../../x402/wire-values.ts'
import type { Context } from '../context.ts'
import type { PaymentCredential } from '../payment-requests/payment-request.ts'
import { previewPayment, type PaymentPreview } from '../payment-requests/preview-payment.ts'
import { askPrice } from './ask-price.ts'
import type { Course } from './pay-for-resource.ts'
import { withPurchasePlace } from './take-purchase-place.ts'
import type { AgentRequest } from './purchase-request.ts'
import { toPaymentRequest } from './reserve-purchase.ts'

/**
 * Returns the scope that a credential needs to ask for a price with this method. A method other than GET and HEAD may
 * change something at the server, so asking is not only reading: it would let a key that may only read send orders to
 * any server in our name (D94). Null if any scope is enough.
 */
export function scopeToAsk(method: string): Scope | null {
  return method === 'GET' || method === 'HEAD' ? null : 'x402:pay'
}

/** No offer is above this, because the amount of an offer has at most 15 digits. */
const AMOUNT_MICRO_MAX = microUsdc(10n ** 15n)
/**
 * Somebody who only asks for a price waits less long than a purchase, so that the places come back sooner (D91). Of a
 * longer answer, we need no more: an offer in the body is shorter.
 */
const CHECK_LIMITS = { timeoutMs: 10_000, answerBytesMax: OFFER_BODY_BYTES_MAX + 1 }

export interface PriceRequest extends Omit<PaymentCredential, 'requestId'> {
  readonly workspaceId: string
  readonly mode: Mode
  readonly request: AgentRequest
  /** The agent and the wallet for which the purchase is previewed. Null if no preview is wanted. */
  readonly buyer: { readonly agentId: AgentId; readonly wallet: Address } | null
}

export interface CheckedPrice {
  /** The status of the answer without a payment. It is 402 if the resource asks for a payment. */
  readonly status: number
  /** Null if the resource asks for no payment, or asks for it in a protocol that we do not know. */
  readonly required: PaymentRequired | null
  /** The URL that asked for the payment, after redirects. If `required` is null, the URL of the request. */
  readonly url: string
  /** The offer that would be paid. Null if there is none. */
  readonly offer: Offer | null
  readonly preview: PaymentPreview | null
}

/**
 * Asks a resource for its price. Pays and reserves nothing (D64), and records only which
 * requests were sent (D94). With a buyer, decides on the purchase as
 * `payForResource` would. Throws the errors of `askPrice`.
 */
export async function checkResource(
  ctx: Context,
  { workspaceId, mode, credentialId, boundAgentId, request, buyer }: PriceRequest,
  { onWait }: Pick<Course, 'onWait'>,
): Promise<CheckedPrice> {
  const place = { pool: 'priceChecks', workspaceId } as const
  const price = await withPurchasePlace(ctx, place, async ({ ended }) => {
    onWait()
    const source = { workspaceId, mode, credentialId }
    return await askPrice(ctx, { source, request, ...CHECK_LIMITS, signal: ended })
  })
  if (price.kind !== 'required') {
    const status = price.kind === 'free' ? price.answer.status : price.status
    return { status, required: null, url: request.url, offer: null, preview: null }
  }
  const { required, url } = price
  const choice = chooseOffer(required, { maxAmountMicro: AMOUNT_MICRO_MAX })
  const offer = choice.kind === 'chosen' ? choice.offer : null
  if (offer === null || buyer === null) return { status: 402, required, url, offer, preview: null }
  // A preview stores nothing, so it needs no request id.
  const payer = { workspaceId, mode, credentialId, requestId: null, boundAgentId, maxAmountMicro: AMOUNT_MICRO_MAX }
  const terms = { ...payer, ...buyer, memo: null, idempotencyKey: '' }
  const payment = { ...toPaymentRequest({ terms, offer }), idempotencyKey: null }
  return { status: 402, required, url, offer, preview: await previewPayment(ctx, payment) }
}
