import { parseExactJson } from '../../lib/parse-json.ts'
import type { Sealer } from '../../lib/sealing.ts'
import { microUsdc } from '../../values/money.ts'
import type { Offer } from '../../x402/payment-required.ts'
import type { RequestHashes } from './purchase-request.ts'
import type { PurchasePlace, SealedPurchase } from './purchases-store.ts'

/** What is needed to sign and send a purchase again. */
export interface PurchaseOrder {
  /** The URL that asked for the payment, with its query. Requests that pay go there and nowhere else. */
  readonly url: string
  /** The method of the request to which the seller responded with 402. */
  readonly method: string
  readonly offer: Offer
  /** Unix seconds. The payment's row stores the other fields of the authorization. */
  readonly validAfterSeconds: bigint
  readonly maxAmountMicro: bigint
  /** The hashes of the agent's request. Null if the agent fetches the resource itself. */
  readonly request: RequestHashes | null
  /** The hash of the seller's terms, if the agent fetches the resource itself. */
  readonly termsHash: string | null
}

/** The payment header. Secret: anyone who has it can move the amount to the payee, once. */
export interface PaymentHeader {
  readonly name: string
  readonly value: string
}

/** A seller's response, as it is kept (D68). */
export interface KeptAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body as text. Null if it is not UTF-8; then `bodyBase64` has it. */
  readonly body: string | null
  readonly bodyBase64: string | null
  readonly isTruncated: boolean
}

/**
 * The most that a sealed response has. Its body has at most 1 MiB, which is a third more in base64, and its headers at
 * most 16 KiB, which JSON may double.
 */
export const KEPT_ANSWER_BYTES_MAX = 1.5 * 1_024 * 1_024

type Part = 'order' | 'header' | 'answer'

/**
 * Returns the context of a sealed value. Because of the context, a value that was sealed as one part of one purchase
 * cannot be opened as another part or for another purchase.
 */
export function purchaseSealContext(part: Part, { workspaceId, paymentId }: PurchasePlace): string {
  return JSON.stringify([`purchase ${part}`, workspaceId, paymentId])
}

export function sealOrder(sealer: Sealer, place: PurchasePlace, order: PurchaseOrder): Buffer {
  const { offer, validAfterSeconds, maxAmountMicro } = order
  const text = JSON.stringify({
    ...order,
    validAfterSeconds: String(validAfterSeconds),
    maxAmountMicro: String(maxAmountMicro),
    offer: { ...offer, amountMicro: String(offer.amountMicro) },
  })
  return sealer.seal(text, purchaseSealContext('order', place))
}

type WireOffer = Omit<Offer, 'amountMicro' | 'terms'> & {
  readonly amountMicro: string
  readonly terms: { readonly nonce: `0x${string}`; readonly validBefore: string } | null
}
type WireOrder = Omit<PurchaseOrder, 'offer' | 'validAfterSeconds' | 'maxAmountMicro'> & {
  readonly validAfterSeconds: string
  readonly maxAmountMicro: string
  readonly offer: WireOffer
}

/** Returns the order of a purchase. Null if the key that encrypted it is lost. */
export function openOrder(sealer: Sealer, purchase: SealedPurchase): PurchaseOrder | null {
  if (purchase.orderSealed.length === 0) return null
  const text = sealer.open(purchase.orderSealed, purchaseSealContext('order', purchase))
  const wire = JSON.parse(text) as WireOrder
  const { echo } = (parseExactJson(text) as WireOrder).offer
  const { offer } = wire
  const terms = offer.terms === null ? null : { ...offer.terms, validBefore: new Date(offer.terms.validBefore) }
  return {
    ...wire,
    validAfterSeconds: BigInt(wire.validAfterSeconds),
    maxAmountMicro: BigInt(wire.maxAmountMicro),
    offer: { ...offer, amountMicro: microUsdc(BigInt(offer.amountMicro)), terms, echo },
  }
}

export function sealHeader(sealer: Sealer, place: PurchasePlace, header: PaymentHeader): Buffer {
  return sealer.seal(JSON.stringify(header), purchaseSealContext('header', place))
}

/** Returns the payment header. Null if the enclave has not signed yet, or if the key that encrypted it is lost. */
export function openHeader(sealer: Sealer, purchase: SealedPurchase): PaymentHeader | null {
  if (purchase.headerSealed === null) return null
  return JSON.parse(sealer.open(purchase.headerSealed, purchaseSealContext('header', purchase))) as PaymentHeader
}

/** How a response is written before it is sealed. */
type StoredAnswerText = KeptAnswer & { readonly textBase64?: string }

export function sealAnswer(sealer: Sealer, place: PurchasePlace, answer: KeptAnswer): Buffer {
  const text = JSON.stringify(answer)
  const { body } = answer
  // JSON writes some characters six times as long. Such a body is shorter in base64.
  const isLong = body !== null && Buffer.byteLength(text) > KEPT_ANSWER_BYTES_MAX
  const encoded = isLong ? { ...answer, body: null, textBase64: Buffer.from(body).toString('base64') } : null
  return sealer.seal(encoded === null ? text : JSON.stringify(encoded), purchaseSealContext('answer', place))
}

/** Returns the seller's response. Null if there is none, or if it is not kept any more. */
export function openAnswer(sealer: Sealer, purchase: SealedPurchase): KeptAnswer | null {
  if (purchase.responseSealed === null) return null
  const stored = JSON.parse(
    sealer.open(purchase.responseSealed, purchaseSealContext('answer', purchase)),
  ) as StoredAnswerText
  const { textBase64, ...answer } = stored
  return textBase64 === undefined ? answer : { ...answer, body: Buffer.from(textBase64, 'base64').toString('utf8') }
}
