import type { Address } from '../values/address.ts'
import type { MicroUsdc } from '../values/money.ts'

/** The protocols in which a resource can ask for a payment: x402 in two versions, and MPP (D64, D65, D70). */
export const PURCHASE_PROTOCOLS = ['x402_v2', 'x402_v1', 'mpp'] as const

export type PurchaseProtocol = (typeof PURCHASE_PROTOCOLS)[number]

/** The seller's own words about the resource, shortened. Untrusted. */
export interface SellerWords {
  readonly description: string | null
  readonly mimeType: string | null
}

/** One way of paying that a resource offers, and that we support. */
export interface Offer extends SellerWords {
  readonly protocol: PurchaseProtocol
  readonly amountMicro: MicroUsdc
  readonly payTo: Address
  /** When the seller gives its goods: after it has checked the signature, or after the money has arrived. */
  readonly flow: 'authorization' | 'upfront'
  /** For how many seconds the seller lets the authorization be valid. Null for MPP, which sets `terms`. */
  readonly validForSeconds: number | null
  /** What a challenge of MPP prescribes about the authorization. Null for x402. */
  readonly terms: { readonly nonce: `0x${string}`; readonly validBefore: Date } | null
  /** What the payment header repeats, with each number as the seller wrote it (`parseExactJson`). */
  readonly echo: unknown
}

/** A way of paying that we skip, with our reason. The other texts are from the seller, shortened, and untrusted. */
export interface SkippedOffer {
  readonly scheme: string
  readonly network: string
  readonly asset: string
  /** As the seller wrote it. */
  readonly amount: string
  readonly reason: SkipReason
}

export const SKIP_REASONS = [
  'malformed',
  'scheme_unknown',
  'network_unknown',
  'asset_unknown',
  'transfer_method_unknown',
  'flow_unknown',
  'domain_unknown',
  'recipient_invalid',
  'amount_invalid',
  'offer_too_short',
  'challenge_too_long',
  'split_unsupported',
  'header_too_large',
  'header_unsupported',
  'parameter_unknown',
  'digest_mismatch',
  'extra_unknown',
  'extension_required',
] as const

export type SkipReason = (typeof SKIP_REASONS)[number]

/** What a 402 answer says, in our terms. The words are those of the first protocol that the seller uses. */
export interface PaymentRequired extends SellerWords {
  /** The first protocol that the seller uses, in the order of `PURCHASE_PROTOCOLS`. */
  readonly protocol: PurchaseProtocol
  /** In all protocols, the best first (`rankOffers`). */
  readonly offers: readonly Offer[]
  readonly skipped: readonly SkippedOffer[]
  /** How many further ways to pay were not read, because a seller's response has more than we read. */
  readonly unread: number
}
