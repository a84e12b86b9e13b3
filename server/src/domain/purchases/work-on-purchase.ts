import { setTimeout as delay } from 'node:timers/promises'
import type { HeldPlace } from '../../lib/fair-places.ts'
import type { Context } from '../context.ts'
import { getPayment } from '../payments/get-payment.ts'
import { getSigningParties } from '../payments/get-signing-parties.ts'
import { nameInLog, type Payment, type PurchasePayment } from '../payments/payment.ts'
import type { SigningParties } from '../payments/signing-store.ts'
import { claimEnd, holdClaim } from './hold-claim.ts'
import type { AgentRequest } from './purchase-request.ts'
import { isAnswered } from './purchase.ts'
import { claimPurchase, findPurchase, type SealedPurchase } from './purchases-store.ts'
import {
  openAnswer,
  openHeader,
  openOrder,
  type KeptAnswer,
  type PaymentHeader,
  type PurchaseOrder,
} from './seal-purchase.ts'
import { isUsable, mayBegin, sendPaidRequest, type WorkBounds } from './send-paid-request.ts'
import { placeOf, signHeader } from './sign-header.ts'

const POLL_FIRST_MS = 50
const POLL_GROWTH = 1.4
const POLL_MS_MAX = 1_000

/** The current state of a purchase. */
export interface PurchaseState {
  readonly payment: Payment
  readonly purchase: SealedPurchase
  /** Null before the seller has responded, and if the response is not kept any more. */
  readonly answer: KeptAnswer | null
  /** Null until the enclave has signed. Only an agent that fetches the resource itself gets it. */
  readonly header: PaymentHeader | null
}

/** A purchase on which this process has a claim. */
interface Claimed {
  readonly payment: PurchasePayment
  readonly purchase: SealedPurchase
  readonly order: PurchaseOrder
  /**
   * Null if another call reserved the purchase. Then the signers are read from the database, and a signature may exist.
   */
  readonly signing: SigningParties | null
  readonly until: Date
  /** The request that is sent with the payment header. Null if the agent fetches the resource itself. */
  readonly request: AgentRequest | null
}

/** Works on a purchase until the seller has responded, or the payment header is ready (D66). Ends the claim. */
export async function workOnPurchase(ctx: Context, claimed: Claimed, bounds: WorkBounds): Promise<PurchaseState> {
  const place = placeOf(claimed.payment)
  return await holdClaim(ctx, { place, until: claimed.until }, async () => await work(ctx, claimed, bounds))
}

async function work(ctx: Context, claimed: Claimed, bounds: WorkBounds): Promise<PurchaseState> {
  const { payment, purchase, order, request } = claimed
  let header = openHeader(ctx.sealer, purchase)
  const known = { payment, purchase, answer: openAnswer(ctx.sealer, purchase), header }
  const isLate = !mayBegin(bounds) || !isUsable(payment, ctx.clock.now())
  if (payment.status === 'failed' || isLate) return known
  // If the header was sent, the seller may use it whatever we do, so it can be sent again. If it was never sent, we
  // check first that the grant is still active.
  const signing =
    header === null || purchase.attempts === 0 ? (claimed.signing ?? (await getSigningParties(ctx, payment))) : null
  if (header === null && signing !== null) {
    const signed = await signHeader(ctx, { payment, order, signing, wasAsked: claimed.signing === null })
    if (signed.kind === 'refused') return { ...known, payment: signed.payment }
    header = signed.header
  }
  if (request === null || header === null) return { ...known, header }
  const sent = await sendPaidRequest(ctx, { payment, purchase, order, header, request }, bounds)
  const { delivery, answer, respondedAt } = sent
  const worked = { ...purchase, delivery, responseStatus: answer?.status ?? null, respondedAt }
  return { payment: await readAgain(ctx, payment), purchase: worked, answer, header }
}

/** Reads the current state of the payment. If that fails, returns the known one, because the answer must not be lost. */
async function readAgain(ctx: Pick<Context, 'db' | 'logger'>, payment: Payment): Promise<Payment> {
  return await getPayment(ctx, payment).catch((error: unknown) => {
    ctx.logger.error({ err: error, ...nameInLog(payment) }, 'the payment of a purchase could not be read again')
    return payment
  })
}

/**
 * Continues a purchase that another call has reserved. If a process works on it, waits for that process. Otherwise
 * signs the same authorization if there is no header yet, and sends the same header if there is no answer yet. If it is
 * too late to use the authorization, if the time of the call is over, if the order is lost, or if a newcomer got the place
 * of a call that only waited, the result has no answer.
 */
export async function continuePurchase(
  ctx: Context,
  { payment: known, request, hold }: { payment: Payment; request: AgentRequest | null; hold: HeldPlace },
  bounds: WorkBounds,
): Promise<PurchaseState> {
  const place = placeOf(known)
  for (let pollMs = POLL_FIRST_MS; ; pollMs = Math.min(pollMs * POLL_GROWTH, POLL_MS_MAX)) {
    const now = ctx.clock.now()
    const until = claimEnd(ctx)
    const state = await readState(ctx, known)
    const { payment, purchase, header } = state
    const isDone = request === null ? header !== null : isAnswered(purchase)
    const isOver = bounds.deadline.leftMs() === 0 || bounds.stopping.aborted || hold.ended.aborted
    const order = openOrder(ctx.sealer, purchase)
    if (isDone || payment.status === 'failed' || isOver || order === null) return state
    const claimed = await ctx.db.write(claimPurchase(place, now, until))
    if (claimed !== null) {
      // The place may have gone to a newcomer during the claim. Then only the claim is ended.
      if (hold.ended.aborted) return await holdClaim(ctx, { place, until }, async () => state)
      hold.keep()
      return await workOnPurchase(ctx, { payment, purchase: claimed, order, signing: null, until, request }, bounds)
    }
    await delay(pollMs)
  }
}

/** Reads the current state of a purchase. */
export async function readState(
  ctx: Pick<Context, 'db' | 'sealer'>,
  known: Payment,
): Promise<PurchaseState & { readonly payment: PurchasePayment }> {
  const [payment, purchase] = await Promise.all([getPayment(ctx, known), ctx.db.read(findPurchase(placeOf(known)))])
  if (purchase === null || payment.kind !== 'x402') throw new Error(`the payment ${payment.id} has no purchase`)
  return { payment, purchase, answer: openAnswer(ctx.sealer, purchase), header: openHeader(ctx.sealer, purchase) }
}
