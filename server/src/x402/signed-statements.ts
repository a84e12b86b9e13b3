import type { IncomingHttpHeaders } from 'node:http'
import type { Offer, PurchaseProtocol } from './payment-required.ts'
import {
  decodeBase64,
  isObject,
  member,
  parseExactObject,
  parseObject,
  textMember,
  type JsonObject,
} from './wire-values.ts'

/** The extension of x402 with which a seller signs its offer, and a receipt for the payment. */
const EXTENSION = 'offer-receipt'
/** How much is kept of each. A signed offer has less than 1 KiB, and a public key adds little. */
const STATEMENT_BYTES_MAX = 8 * 1_024

/** Something that a seller has signed. `text` is null if it is too large to be kept. */
export interface SignedStatement {
  readonly text: string | null
}

/** The header in which a seller says how it was paid, in each protocol. */
const RECEIPT_HEADERS: Readonly<Record<PurchaseProtocol, string>> = {
  x402_v2: 'payment-response',
  x402_v1: 'x-payment-response',
  mpp: 'payment-receipt',
}

/**
 * Returns the seller's signature of the offer that is paid, as the seller wrote it. Null if there is none. Only version 2
 * of x402 has it. The signature is not verified: whose key it is can only be found out elsewhere.
 */
export function readSignedOffer({ protocol, echo }: Pick<Offer, 'protocol' | 'echo'>): SignedStatement | null {
  if (protocol !== 'x402_v2' || !isObject(echo)) return null
  const accepted = member(echo, 'accepted')
  const offers = infoMember(echo, 'offers')
  if (!isObject(accepted) || !Array.isArray(offers)) return null
  const signed: unknown = offers.find((offer: unknown) => isObject(offer) && isOfferOf(offer, accepted))
  return signed === undefined ? null : keep(JSON.stringify(signed))
}

/**
 * Returns the seller's receipt, as the seller wrote it: the signed receipt of x402, or the header of MPP. Null if there is
 * none. It is not verified.
 */
export function readReceipt(protocol: PurchaseProtocol, headers: IncomingHttpHeaders): SignedStatement | null {
  const header = headers[RECEIPT_HEADERS[protocol]]
  if (typeof header !== 'string' || header === '') return null
  if (protocol === 'mpp') return keep(header)
  const text = decodeBase64(header)
  if (text === null || parseObject(text) === null) return null
  const receipt = infoMember(parseExactObject(text), 'receipt')
  return isObject(receipt) && textMember(receipt, 'signature') !== null ? keep(JSON.stringify(receipt)) : null
}

function infoMember(object: JsonObject, name: string): unknown {
  const info = ['extensions', EXTENSION, 'info'].reduce<unknown>(
    (value, step) => (isObject(value) ? member(value, step) : null),
    object,
  )
  return isObject(info) ? member(info, name) : null
}

/** Returns whether an offer is signed for this entry of `accepts`. `acceptIndex` says so too, but is not signed. */
function isOfferOf(signed: JsonObject, accepted: JsonObject): boolean {
  const payload = readPayload(signed)
  if (payload === null) return false
  const same = (name: string): boolean =>
    textMember(payload, name) !== null &&
    textMember(payload, name)?.toLowerCase() === textMember(accepted, name)?.toLowerCase()
  return ['scheme', 'network', 'asset', 'payTo', 'amount'].every(same)
}

/** Returns what is signed: a member of its own, or the second part of a JWS (RFC 7515, section 7.1). */
function readPayload(signed: JsonObject): JsonObject | null {
  const signature = textMember(signed, 'signature')
  if (signature === null) return null
  const payload = member(signed, 'payload')
  if (isObject(payload)) return payload
  const [, encoded = ''] = signature.split('.')
  return parseObject(Buffer.from(encoded, 'base64url').toString('utf8'))
}

function keep(text: string): SignedStatement {
  return { text: Buffer.byteLength(text) > STATEMENT_BYTES_MAX ? null : text }
}
