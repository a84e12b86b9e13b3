import type { IncomingHttpHeaders } from 'node:http'
import type { PaymentRequired } from './payment-required.ts'
import { readChallenges } from './read-challenges.ts'
import type { AcceptedMoney } from './read-offer.ts'
import { readX402V1, readX402V2 } from './read-x402.ts'

/** A seller's response with the status 402. */
export interface PaymentRequiredAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/**
 * Reads what a resource asks for (D65, D70): x402 version 2 is in a header, version 1 in the body, and a challenge of
 * MPP in another header. A seller may use several of them at once. Returns the first in this order that has an offer we
 * can pay, otherwise the first that is valid, and null if there is none. Never throws: a stranger wrote all of this.
 */
export function readPaymentRequired(answer: PaymentRequiredAnswer, money: AcceptedMoney): PaymentRequired | null {
  if (answer.status !== 402) return null
  const read = [
    readX402V2(answer.headers['payment-required'], money),
    readX402V1(answer.body, money),
    readChallenges(answer.headers['www-authenticate'], money),
  ].filter((required) => required !== null)
  return read.find(({ offers }) => offers.length > 0) ?? read[0] ?? null
}
