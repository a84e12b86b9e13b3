import type { IncomingHttpHeaders } from 'node:http'
import { rankOffers } from './choose-offer.ts'
import type { Offer, PaymentRequired } from './payment-required.ts'
import { readChallenges } from './read-challenges.ts'
import { paymentHeaderBytes } from './header-size.ts'
import { skipOwn, type AcceptedMoney, type PayingRequest } from './read-offer.ts'
import { readX402V1, readX402V2 } from './read-x402.ts'

/** A seller's response with the status 402. */
export interface PaymentRequiredAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/**
 * Reads what a resource asks for (D65, D70): x402 version 2 is in a header, version 1 in the body, and a challenge of
 * MPP in another header. A seller may use several of them at once, with different prices, so the offers of all of them
 * are compared. An offer whose payment header would be too long is skipped, because the seller's
 * server would refuse the request after it has got a signature. Returns null if the answer uses none of the protocols.
 * Never throws: a stranger wrote all of this.
 */
export function readPaymentRequired(
  answer: PaymentRequiredAnswer,
  money: AcceptedMoney,
  sent: PayingRequest,
): PaymentRequired | null {
  if (answer.status !== 402) return null
  const read = [
    readX402V2(answer.headers['payment-required'], money),
    readX402V1(answer.body, money),
    readChallenges(answer.headers['www-authenticate'], money, sent),
  ].filter((required) => required !== null)
  const [first] = read
  if (first === undefined) return null
  const offers = rankOffers(read.flatMap((list) => list.offers))
  const isSendable = (offer: Offer): boolean => paymentHeaderBytes(offer) <= sent.headerBytesMax
  const tooLarge = offers.filter((offer) => !isSendable(offer))
  return {
    ...first,
    offers: offers.filter(isSendable),
    skipped: [
      ...read.flatMap(({ skipped }) => skipped),
      ...tooLarge.map((offer) => skipOwn(offer, 'header_too_large', money)),
    ],
    unread: read.reduce((sum, { unread }) => sum + unread, 0),
  }
}
