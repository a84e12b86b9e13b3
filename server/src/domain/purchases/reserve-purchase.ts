import { violatesCheck, violatesUnique } from '../../db/errors.ts'
import { formatAmount } from '../../values/money.ts'
import { problem, refusalProblem, type Refusal } from '../../values/problem.ts'
import { makeAuthorization } from '../../x402/make-authorization.ts'
import type { Offer, PaymentRequired } from '../../x402/payment-required.ts'
import { skipOwn } from '../../x402/read-offer.ts'
import type { Context } from '../context.ts'
import type { NewPurchase, PaymentRequest } from '../payment-requests/payment-request.ts'
import { reserveRequest, type ReservedRequest } from '../payment-requests/reserve-request.ts'
import { authorizationNonce } from '../payments/derived-ids.ts'
import type { PurchasePayment } from '../payments/payment.ts'
import { AUTHORIZATION_INDEX } from '../payments/payments-store.ts'
import type { SigningParties } from '../payments/signing-store.ts'
import { recordRefusal } from '../refusals/record-refusal.ts'
import { findAnswerBytes, BUDGET_CONSTRAINT } from '../stored-bytes/stored-bytes-store.ts'
import type { StoredBytes } from '../stored-bytes/stored-bytes.ts'
import { describeResource } from './describe-resource.ts'
import { claimEnd } from './hold-claim.ts'
import { combineHashes, sha256, type PurchaseTerms, type RequestHashes } from './purchase-request.ts'
import { insertPurchase, type SealedPurchase } from './purchases-store.ts'
import { KEPT_ANSWER_BYTES_MAX, sealOrder, type PurchaseOrder } from './seal-purchase.ts'
import { isUsable } from './send-paid-request.ts'
import { placeOf } from './sign-header.ts'

/** What an agent buys: an offer, and the resource that made it. */
export interface Bargain {
  readonly terms: PurchaseTerms
  readonly required: PaymentRequired
  readonly offer: Offer
  /** The URL that asked for the payment. */
  readonly url: string
  readonly method: string
  /** Null if the agent fetches the resource itself. */
  readonly request: RequestHashes | null
  /** The hash of the seller's terms, if the agent fetches the resource itself. */
  readonly termsHash: string | null
}

/** What was stored with the payment. */
interface Stored {
  readonly order: PurchaseOrder
  readonly purchase: SealedPurchase
  /** When this process's claim on the purchase ends. */
  readonly until: Date
}

export type Reserved =
  | (Stored & { readonly kind: 'reserved'; readonly payment: PurchasePayment; readonly signing: SigningParties })
  | Extract<ReservedRequest, { readonly kind: 'existing' }>

/**
 * Reserves the amount of a purchase, under the same lock and limits as any payment, and stores the authorization that
 * the enclave will sign. One transaction stores the payment, the purchase and the event (D66). A refusal by a limit is
 * recorded, and thrown as the error that a payment would get. In the same way, a purchase is refused with 403
 * `storage_full` if the workspace has no room to keep the largest response of a seller (D93): this room is reserved with
 * the amount. Throws 409 `challenge_already_paid` if a purchase with
 * the seller's nonce exists, and 400 `payment_option_unsupported` if too little time is left for the authorization.
 */
export async function reservePurchase(ctx: Context, bargain: Bargain): Promise<Reserved> {
  const stored: Partial<Stored> = {}
  const { workspaceId, mode } = bargain.terms
  const request = { ...toPaymentRequest(bargain), purchase: newPurchase(ctx, bargain, stored) }
  const refuse = (refusal: Refusal): never => {
    recordRefusal(ctx, { request: { ...request, resourceUrl: describeResource(bargain.url).resourceUrl }, refusal })
    throw refusalProblem(refusal)
  }
  const { answerBytes } = request.purchase
  if (answerBytes > 0) {
    // Only the reservation decides. This check finds nearly every full budget before it makes a batch of reservations
    // fail, in which there are those of other workspaces too.
    const known = await ctx.db.read(findAnswerBytes(workspaceId, mode))
    if (known.usedBytes + answerBytes > known.budgetBytes) return refuse(storageFull(known))
  }
  const reservation = await reserveRequest(ctx, request).catch(async (error: unknown) => {
    if (violatesUnique(error, AUTHORIZATION_INDEX)) throw problem('challenge_already_paid')
    // Other purchases took the last room after it was read.
    if (violatesCheck(error, BUDGET_CONSTRAINT))
      return refuse(storageFull(await ctx.db.read(findAnswerBytes(workspaceId, mode))))
    throw error
  })
  switch (reservation.kind) {
    case 'refused':
      return refuse(reservation.refusal)
    case 'existing':
      return reservation
    case 'reserved': {
      const { order, purchase, until } = stored
      const { payment, signing } = reservation
      if (payment.kind !== 'x402' || order === undefined || purchase === undefined || until === undefined) {
        throw new Error('a purchase was reserved without its order')
      }
      return { kind: 'reserved', payment, signing, order, purchase, until }
    }
  }
}

function storageFull({ usedBytes, budgetBytes }: StoredBytes): Refusal<'storage_full'> {
  return { code: 'storage_full', details: { used_bytes: usedBytes, budget_bytes: budgetBytes } }
}

/** Returns the payment request of a purchase, for its reservation or for a preview. */
export function toPaymentRequest({ terms, offer }: Pick<Bargain, 'terms' | 'offer'>): PaymentRequest {
  const { maxAmountMicro: _maxAmountMicro, ...payer } = terms
  const { amountMicro, payTo: to } = offer
  return { ...payer, to, amountMicro, amountUsdc: formatAmount(amountMicro), kind: 'x402' }
}

/**
 * Returns what the purchase adds to its payment. If the balance has to be read again, the reservation is decided again.
 * Then `stored` has the order of the last decision, which is the decision that was stored.
 */
function newPurchase(
  ctx: Pick<Context, 'sealer' | 'clock' | 'chains'>,
  bargain: Bargain,
  stored: Partial<Stored>,
): NewPurchase {
  const { terms, offer, url, method, request, termsHash } = bargain
  const nonce = authorizationNonce(terms)
  return {
    derivedNonce: offer.terms === null ? nonce : null,
    authorize({ now, grantExpiresAt }) {
      const authorization = makeAuthorization(offer, { from: terms.wallet, now, grantExpiresAt, nonce })
      if (authorization === null) throw problem('payment_option_unsupported', { details: tooShort(ctx, bargain) })
      return authorization
    },
    answerBytes: request === null ? 0 : KEPT_ANSWER_BYTES_MAX,
    store(payment, { authorization: { validAfterSeconds }, reservedBytes }) {
      const place = placeOf(payment)
      const { maxAmountMicro } = terms
      const order = { url, method, offer, validAfterSeconds, maxAmountMicro, request, termsHash }
      // Nobody works on a purchase that was recovered: its authorization was used before.
      const until = claimEnd(ctx)
      const workedUntil = isUsable(payment, ctx.clock.now()) ? until : null
      const purchase: SealedPurchase = {
        ...{ workspaceId: payment.workspaceId, mode: payment.mode, paymentId: payment.id, protocol: offer.protocol },
        ...{ ...describeResource(url), method, description: offer.description },
        ...{ orderSealed: sealOrder(ctx.sealer, place, order), headerSealed: null, responseSealed: null },
        ...{ delivery: request === null ? null : 'unknown', attempts: 0, responseStatus: null, respondedAt: null },
        createdAt: payment.createdAt,
      }
      Object.assign(stored, { order, purchase, until })
      const hashes = request ?? { url: sha256(url), method, headers: '', body: termsHash ?? '' }
      return [insertPurchase(purchase, { requestHash: combineHashes(hashes), workedUntil, reservedBytes })]
    },
  }
}

/** Too little time is left for the chosen offer, so we skip it too. Returns all skipped offers, the chosen one last. */
function tooShort({ chains }: Pick<Context, 'chains'>, { terms, offer, required }: Bargain) {
  const skipped = [...required.skipped, skipOwn(offer, 'offer_too_short', chains[terms.mode])]
  return { skipped, unread_options: required.unread }
}
