import { ZERO_ADDRESS } from '../values/address.ts'
import type { Offer } from './payment-required.ts'
import { writePaymentHeader } from './write-payment-header.ts'

/**
 * The longest payment header that we send, with its name. Apache refuses a line of more than 8,190 bytes, and nginx one
 * of more than 8 KiB.
 */
export const PAYMENT_HEADER_BYTES_MAX = 8_000
/** The longest request line and headers that we send. Node.js refuses more than 16 KiB. */
export const REQUEST_HEAD_BYTES_MAX = 16_000
/** The longest signature that we expect: one of a contract, which wraps the 65 bytes of a key's signature (ERC-1271). */
const SIGNATURE_BYTES_MAX = 512

/** The longest values that a signed payment can have. */
const LONGEST = {
  signature: `0x${'0'.repeat(2 * SIGNATURE_BYTES_MAX)}`,
  chainId: 10 ** 9,
  paymentId: 'pay_'.padEnd(30, '0'),
} as const
const LATE_SECONDS = 10n ** 10n

/** Returns how long the payment header of an offer can become, in bytes, with its name. Signs nothing. */
export function paymentHeaderBytes(offer: Offer): number {
  const authorization = {
    ...{ from: ZERO_ADDRESS, to: offer.payTo, valueMicro: offer.amountMicro, nonce: `0x${'0'.repeat(64)}` as const },
    ...{ validAfterSeconds: LATE_SECONDS, validBeforeSeconds: LATE_SECONDS },
  }
  const { name, value } = writePaymentHeader(offer, { ...LONGEST, authorization })
  return headerBytes(name, value)
}

/** Returns how many bytes a header takes, with the colon, the space and the end of its line. */
export function headerBytes(name: string, value: string): number {
  return Buffer.byteLength(name) + Buffer.byteLength(value) + ': \r\n'.length
}
