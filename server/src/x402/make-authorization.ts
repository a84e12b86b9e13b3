import type { Address } from '../values/address.ts'
import type { TransferAuthorization } from '../values/transfer-authorization.ts'
import type { Offer } from './payment-required.ts'
import { VALID_SECONDS_MIN } from './read-offer.ts'

/** The longest time that an authorization of x402 is valid, whatever the seller asks for (D65). */
const VALID_SECONDS_MAX = 120
/**
 * An authorization of x402 version 1 begins this much before now, so that a seller whose clock is behind accepts it.
 * Version 1's own client does the same.
 */
const V1_EARLIER_SECONDS = 600n

/** Who pays, and when. */
export interface AuthorizationParty {
  readonly from: Address
  readonly now: Date
  readonly grantExpiresAt: Date | null
  /** The nonce, unless the offer prescribes one. */
  readonly nonce: `0x${string}`
}

/**
 * Makes the authorization that pays an offer, from the wallet `from`. The authorization never ends after the grant,
 * because the enclave refuses one that does. MPP prescribes the nonce and the end. Returns null if the authorization
 * would last less than 20 seconds, or if the end that MPP prescribes is after the end of the grant.
 */
export function makeAuthorization(
  offer: Offer,
  { from, now, grantExpiresAt, nonce }: AuthorizationParty,
): TransferAuthorization | null {
  const nowSeconds = toSeconds(now)
  const grantEnd = grantExpiresAt === null ? Number.POSITIVE_INFINITY : toSeconds(grantExpiresAt)
  const wanted =
    offer.terms === null
      ? Math.min(nowSeconds + Math.min(offer.validForSeconds ?? 0, VALID_SECONDS_MAX), grantEnd)
      : toSeconds(offer.terms.validBefore)
  if (wanted - nowSeconds < VALID_SECONDS_MIN || wanted > grantEnd) return null
  return {
    from,
    to: offer.payTo,
    valueMicro: offer.amountMicro,
    validAfterSeconds: offer.protocol === 'x402_v1' ? BigInt(nowSeconds) - V1_EARLIER_SECONDS : 0n,
    validBeforeSeconds: BigInt(wanted),
    nonce: offer.terms?.nonce ?? nonce,
  }
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1_000)
}
