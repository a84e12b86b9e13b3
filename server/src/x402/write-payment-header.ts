import type { TransferAuthorization } from '../values/transfer-authorization.ts'
import { credentialHeaderOf } from './challenge-parameters.ts'
import type { Offer } from './payment-required.ts'
import { IDENTIFIER_EXTENSION, isObject, member, textMember, type JsonObject } from './wire-values.ts'

export interface SignedOffer {
  readonly authorization: TransferAuthorization
  readonly signature: `0x${string}`
  readonly chainId: number
  /** Sent to sellers that ask for an id of the payment. */
  readonly paymentId: string
}

/** Writes the payment header for an offer, in the offer's protocol. The header's value is a secret until it is used. */
export function writePaymentHeader(offer: Offer, signed: SignedOffer): { name: string; value: string } {
  const echo = isObject(offer.echo) ? offer.echo : {}
  switch (offer.protocol) {
    case 'x402_v2':
      return { name: 'PAYMENT-SIGNATURE', value: toBase64(payloadV2(echo, signed)) }
    case 'x402_v1': {
      const payload = { x402Version: 1, ...echo, payload: payloadOf(signed) }
      return { name: 'X-PAYMENT', value: toBase64(payload) }
    }
    case 'mpp':
      return { name: mppHeaderOf(echo), value: `Payment ${credential(echo, signed)}` }
  }
}

function payloadV2(echo: JsonObject, signed: SignedOffer): object {
  const extensions = member(echo, 'extensions')
  return {
    x402Version: 2,
    ...echo,
    payload: payloadOf(signed),
    ...(isObject(extensions) ? { extensions: identify(extensions, signed.paymentId) } : {}),
  }
}

function mppHeaderOf(challenge: JsonObject): string {
  const name = credentialHeaderOf(textMember(challenge, 'header'))
  if (name === null) throw new Error('the header of a challenge is not allowed')
  return name
}

/** Adds the payment's id to the extension that asks for it. The rest is repeated without any change. */
function identify(extensions: JsonObject, id: string): JsonObject {
  const extension = member(extensions, IDENTIFIER_EXTENSION)
  if (!isObject(extension)) return extensions
  const info = member(extension, 'info')
  return { ...extensions, [IDENTIFIER_EXTENSION]: { ...extension, info: { ...(isObject(info) ? info : {}), id } } }
}

function payloadOf({ signature, authorization }: SignedOffer): object {
  return { signature, authorization: writeAuthorization(authorization) }
}

/** The credential of MPP. It repeats all parameters of the challenge. */
function credential(challenge: JsonObject, { authorization, signature, chainId }: SignedOffer): string {
  const payload = { type: 'authorization', ...writeAuthorization(authorization), signature }
  const source = `did:pkh:eip155:${chainId}:${authorization.from}`
  return Buffer.from(JSON.stringify({ challenge, payload, source })).toString('base64url')
}

function writeAuthorization(authorization: TransferAuthorization): object {
  const { from, to, valueMicro, validAfterSeconds, validBeforeSeconds, nonce } = authorization
  return {
    ...{ from, to, value: String(valueMicro), validAfter: String(validAfterSeconds) },
    ...{ validBefore: String(validBeforeSeconds), nonce },
  }
}

function toBase64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
