import { refusalProblem } from '../../values/problem.ts'
import { openDeadline, type Deadline } from '../../lib/deadline.ts'
import type { Context } from '../context.ts'
import { mayPayAs } from '../payment-requests/payment-request.ts'
import { withRecordedOutcome } from '../payments/with-recorded-outcome.ts'
import { askPrice, PRICE_LIMITS, protocolUnknown, requireOffer } from './ask-price.ts'
import { findByKey, replayPurchase, type EarlierPurchase } from './find-earlier-purchase.ts'
import { withPurchasePlace } from './take-purchase-place.ts'
import { hashRequest, type PurchaseTerms, type AgentRequest } from './purchase-request.ts'
import { reservePurchase } from './reserve-purchase.ts'
import type { KeptAnswer } from './seal-purchase.ts'
import { workOnPurchase, type PurchaseState } from './work-on-purchase.ts'

export type ResourceOutcome =
  /** The resource asked for no payment. Nothing was recorded. */
  | { readonly kind: 'free'; readonly answer: KeptAnswer }
  | { readonly kind: 'bought'; readonly state: PurchaseState }
  | { readonly kind: 'replayed'; readonly earlier: EarlierPurchase }

/**
 * A call that buys or signs ends after two minutes. This time covers everything: asking for the price, paying, and
 * waiting for another call that works on the purchase. The rest is for storing and reading the result.
 */
const CALL_MS_MAX = 120_000
const RESULT_MS = 5_000
export const WORK_MS_MAX = CALL_MS_MAX - RESULT_MS

/** How a call learns that the service stops, and how it tells its caller that it waits. */
export interface Course {
  /** Aborted when the service stops. A client that disconnects does not end a purchase. */
  readonly stopping: AbortSignal
  /** Called before we wait for the seller's server. */
  readonly onWait: () => void
  /** When the work must end. Only tests set it. */
  readonly deadline?: Deadline
}

/**
 * Fetches a resource for an agent, and pays what it asks for if the grant allows it (D64). An existing payment with the
 * idempotency key is found before any outbound request, and continued (D66). The amount is reserved before anything is
 * signed, and the payment header is stored before it is sent. If the time of the call is over, returns the purchase as
 * it is; a call with the same idempotency key continues it.
 *
 * Throws the errors of `askPrice`, `requireOffer` and `reservePurchase`, 400 `payment_protocol_unknown`, 503 if too
 * many purchases are in progress, and 500 `privy_call_failed` if the enclave did not sign or its response was lost.
 */
export async function payForResource(
  ctx: Context,
  { terms, request }: { readonly terms: PurchaseTerms; readonly request: AgentRequest },
  { stopping, onWait, deadline = openDeadline(WORK_MS_MAX) }: Course,
): Promise<ResourceOutcome> {
  const bounds = { stopping, deadline, onWait }
  const hashes = hashRequest(request)
  const replay = { key: terms, compared: { ...terms, request: hashes }, request }
  const earlier = await findByKey(ctx, terms)
  if (earlier !== null) {
    return { kind: 'replayed', earlier: await replayPurchase(ctx, { ...replay, payment: earlier }, bounds) }
  }
  if (!mayPayAs(terms, terms.agentId)) throw refusalProblem({ code: 'agent_not_authorized' })
  const place = { pool: 'purchases', workspaceId: terms.workspaceId } as const
  const outcome = await withPurchasePlace(ctx, place, async ({ ended, keep }) => {
    onWait()
    const price = await askPrice(ctx, { source: terms, request, ...PRICE_LIMITS, signal: ended })
    if (price.kind === 'free') return price
    if (price.kind === 'unknown') throw protocolUnknown(price)
    const { required, url } = price
    const offer = requireOffer(required, terms.maxAmountMicro)
    const bargain = { terms, required, offer, url, method: request.method, request: hashes, termsHash: null }
    // From here on, the purchase may pay, so it is never cut off.
    keep()
    const reserved = await reservePurchase(ctx, bargain)
    if (reserved.kind === 'existing') return reserved
    const { payment } = reserved
    const work = workOnPurchase(ctx, { ...reserved, request }, bounds)
    return { kind: 'bought', state: await withRecordedOutcome(work, payment) } as const
  })
  if (outcome.kind !== 'existing') return outcome
  // Another request with this key was faster.
  return { kind: 'replayed', earlier: await replayPurchase(ctx, { ...replay, payment: outcome.payment }, bounds) }
}
