import type { Mode } from '../addresses.ts'

/**
 * The protocols in which a resource asks to be paid. With `mpp_and_x402`, one answer asks in both protocols, as the
 * package mppx writes it. With `mpp`, the resource sends the same answer without the part of x402. With
 * `mpp_beside_bearer`, it also asks for a bearer token in `Authorization`, so it takes the payment in another header.
 */
export const PROTOCOLS = ['x402_v2', 'x402_v1', 'mpp', 'mpp_and_x402', 'mpp_beside_bearer'] as const
/** When the seller gives its goods: after it has checked the signature, or after the money has arrived. */
export const FLOWS = ['authorization', 'upfront'] as const
/**
 * The kinds of offers that one answer can contain (x402 version 2 only). The seller settles only `own`. A payer that
 * pays USDC by EIP-3009 must skip the other kinds.
 */
export const OFFERS = [
  'own',
  'gateway',
  'permit2',
  'foreign_asset',
  'foreign_network',
  'unknown_flow',
  'unknown_scheme',
  'other_domain',
] as const
/** How a body can be encoded. `unknown` is an encoding that no payer knows; `gzip_claimed` is none that is called gzip. */
export const ENCODINGS = ['gzip', 'deflate', 'deflate_raw', 'br', 'gzip_br', 'gzip_claimed', 'unknown'] as const
/**
 * What a resource can do wrong. The first four happen in the facilitator, the next three in the seller's program. Then
 * come those in the answer to a request without a payment, and those in the answer to a request with a payment, whose
 * names begin with `answer_`.
 *
 * - `receipt_wait_fails`: the money moves, and the facilitator cannot see that. The answer is 402.
 * - `settle_answer_lost`: the money moves, and the facilitator's answer to the seller is lost. The answer is 402.
 * - `settle_late`: the money moves after `delay_ms`. If that is more than 3 s, the answer is 502.
 * - `settle_fails`: the money does not move. The answer is 402.
 * - `handler_fails`: the program that makes the goods fails. The answer is 500.
 * - `price_raised`, `payee_changed`: the offer changes after the first `changes_after` requests.
 * - `html_paywall`: 402 with a page for people, without an offer.
 * - `malformed_offer`: 402 with an offer that cannot be read.
 * - `redirect`: `redirect_status` to `redirect_to`.
 * - `offer_encoded`, `answer_encoded`: the body is encoded as `encoding`.
 * - `offer_cut`, `answer_cut`: the connection ends after half of the announced body.
 * - `answer_status`: the answer has the status `answer_status`, after the money has moved.
 * - `answer_corrupt`: bytes in the middle of the body are wrong. If the body is encoded, it cannot be decoded.
 * - `answer_unfinished`: half of the body is sent in chunks, and the connection ends without the last chunk.
 * - `answer_dripped`: the body is sent in pieces, which take `delay_ms` together.
 * - `answer_huge`: the answer has `answer_bytes` bytes.
 * - `answer_slow`: the answer is sent after `delay_ms`.
 * - `answer_lost`: the goods are handed over, and the connection breaks before the first byte of the answer.
 * - `answer_twice`: a second answer follows the first one on the same connection.
 */
export const FAULTS = [
  'receipt_wait_fails',
  'settle_answer_lost',
  'settle_late',
  'settle_fails',
  'handler_fails',
  'price_raised',
  'payee_changed',
  'html_paywall',
  'malformed_offer',
  'redirect',
  'offer_encoded',
  'offer_cut',
  'answer_encoded',
  'answer_cut',
  'answer_status',
  'answer_corrupt',
  'answer_unfinished',
  'answer_dripped',
  'answer_huge',
  'answer_slow',
  'answer_lost',
  'answer_twice',
] as const

export type Protocol = (typeof PROTOCOLS)[number]
export type Flow = (typeof FLOWS)[number]
export type OfferKind = (typeof OFFERS)[number]
export type Fault = (typeof FAULTS)[number]
export type Encoding = (typeof ENCODINGS)[number]

/** Everything that a resource does. It is JSON, because the control API sends it to the seller. */
export interface Behaviour {
  readonly mode: Mode
  readonly protocol: Protocol
  readonly flow: Flow
  /** In micro-USDC. */
  readonly amount: string
  /** The payee. Null for a new address, which receives only the payments for this resource. */
  readonly payTo: `0x${string}` | null
  readonly offers: readonly OfferKind[]
  /** How long an authorization may be valid, as the offer says. Ignored for MPP: its challenges are valid for 5 min. */
  readonly maxTimeoutSeconds: number
  readonly faults: readonly Fault[]
  /**
   * How many times each of the faults happens, or null for always. A changed price or payee stays changed in any case.
   */
  readonly faultCount: number | null
  /** After this many requests, the faults `price_raised` and `payee_changed` change the offer. */
  readonly changesAfter: number
  readonly delayMs: number
  readonly answerBytes: number
  readonly answerStatus: number
  readonly encoding: Encoding
  readonly redirectStatus: number
  /** The target of a redirect: a URL, or null for the resource itself. */
  readonly redirectTo: string | null
  /**
   * Whether the seller remembers its buyers: a payer who sends an authorization that was already settled gets the goods
   * again. Most sellers only see that the authorization was used, and respond with 402.
   */
  readonly remembers: boolean
}

export const BEHAVIOUR_DEFAULT: Behaviour = {
  mode: 'test',
  protocol: 'x402_v2',
  flow: 'authorization',
  amount: '10000',
  payTo: null,
  offers: ['own'],
  maxTimeoutSeconds: 300,
  faults: [],
  faultCount: null,
  changesAfter: 1,
  delayMs: 4_000,
  answerBytes: 20_000_000,
  answerStatus: 999,
  encoding: 'gzip',
  redirectStatus: 302,
  redirectTo: null,
  remembers: false,
}
