import { openDeadline } from '../../lib/deadline.ts'
import { problem, refusalProblem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { mayPayAs } from '../payment-requests/payment-request.ts'
import { withRecordedOutcome } from '../payments/with-recorded-outcome.ts'
import { readPaymentTerms, requireOffer } from './ask-price.ts'
import { findByKey, replayPurchase, type EarlierPurchase } from './find-earlier-purchase.ts'
import { WORK_MS_MAX, type Course } from './pay-for-resource.ts'
import { sha256, type PurchaseTerms } from './purchase-request.ts'
import { reservePurchase } from './reserve-purchase.ts'
import { workOnPurchase, type PurchaseState } from './work-on-purchase.ts'

/** What a seller asked an agent for, as the agent has received it. */
export interface ReceivedTerms {
  readonly resourceUrl: string
  /** A 402 answer that has the seller's terms. */
  readonly answer: Parameters<typeof readPaymentTerms>[2]
  /** The terms as the agent has sent them, to recognize them in a retry. */
  readonly text: string
}

export type SignedOutcome =
  | { readonly kind: 'signed'; readonly state: PurchaseState }
  | { readonly kind: 'replayed'; readonly earlier: EarlierPurchase }

/**
 * Signs a payment header for an agent that fetches the resource itself (D64). The checks, the reservation and the
 * settlement are those of `payForResource`. For at most two minutes, anyone who has the header can move the amount to
 * the payee, once.
 */
export async function signForResource(
  ctx: Context,
  { terms, received }: { readonly terms: PurchaseTerms; readonly received: ReceivedTerms },
  { stopping, onWait, deadline = openDeadline(WORK_MS_MAX) }: Course,
): Promise<SignedOutcome> {
  const bounds = { stopping, deadline, onWait }
  const { resourceUrl } = received
  const termsHash = sha256(received.text)
  const replay = { key: terms, compared: { ...terms, request: null, resourceUrl, termsHash }, request: null }
  const earlier = await findByKey(ctx, terms)
  if (earlier !== null) {
    return { kind: 'replayed', earlier: await replayPurchase(ctx, { ...replay, payment: earlier }, bounds) }
  }
  if (!mayPayAs(terms, terms.agentId)) throw refusalProblem({ code: 'agent_not_authorized' })
  const required = readPaymentTerms(ctx, terms.mode, received.answer, { sentBytes: 0, body: undefined })
  if (required === null) throw problem('payment_protocol_unknown', { details: { status: 402, untrusted_body: '' } })
  const offer = requireOffer(required, terms.maxAmountMicro)
  const bargain = { terms, required, offer, url: resourceUrl, method: 'GET', request: null, termsHash }
  const reserved = await reservePurchase(ctx, bargain)
  if (reserved.kind === 'existing') {
    return { kind: 'replayed', earlier: await replayPurchase(ctx, { ...replay, payment: reserved.payment }, bounds) }
  }
  const { payment } = reserved
  const work = workOnPurchase(ctx, { ...reserved, request: null }, bounds)
  return { kind: 'signed', state: await withRecordedOutcome(work, payment) }
}
