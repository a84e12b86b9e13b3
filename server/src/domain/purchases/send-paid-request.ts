import { setTimeout as delay } from 'node:timers/promises'
import type { Deadline } from '../../lib/deadline.ts'
import { keepHarmlessHeaders } from '../../lib/outbound/drop-headers.ts'
import { fetchResource } from '../../lib/outbound/fetch-resource.ts'
import { isRejectedValue } from '../../db/errors.ts'
import type { Context } from '../context.ts'
import { nameInLog, type Payment, type PurchasePayment } from '../payments/payment.ts'
import type { FirstAnswer } from '../transparency-log/leaf.ts'
import { readFirstAnswer } from './read-first-answer.ts'
import { deliveryOf, toKeptAnswer } from './keep-answer.ts'
import type { AgentRequest } from './purchase-request.ts'
import type { GoodsDelivery } from './purchase.ts'
import { countPaidRequest, findPurchase, storeAnswer, type SealedPurchase } from './purchases-store.ts'
import { openAnswer, sealAnswer, type KeptAnswer, type PaymentHeader, type PurchaseOrder } from './seal-purchase.ts'
import { placeOf } from './sign-header.ts'

/** In the packages of the x402 project, a seller's facilitator takes at most 90 seconds. We wait longer than that. */
const PAID_REQUEST_MS_MAX = 95_000
/** The maximum number of times that one function call sends the same header again after the response was lost. */
const RESENDS_MAX = 2
const RESEND_DELAY_MS = 250
/** Facilitators reject an authorization that is valid for less time than this. */
const VALIDITY_MARGIN_MS = 6_000
/** How much of an answer's body is read and kept (D68). */
export const ANSWER_BYTES_MAX = 1_024 * 1_024
/**
 * How long we wait for a seller when the service stops. After that, a retry of the agent sends the same header again.
 */
const STOP_WAIT_MS = 10_000
/**
 * In the last sixth of a call's time (19 s of two minutes), nothing is signed or sent any more. Signing can take so long,
 * and goods that arrive after the end of the call could be lost.
 */
const LAST_SHARE = 6

/** When work on a purchase ends, although it is not finished. */
export interface WorkBounds {
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal
  /** The time limit of the call. */
  readonly deadline: Deadline
}

type Arrived = Delivered & { readonly answer: KeptAnswer; readonly respondedAt: Date }

/** What has arrived from the seller so far. */
export interface Delivered {
  readonly delivery: GoodsDelivery
  readonly answer: KeptAnswer | null
  /** When the answer arrived. */
  readonly respondedAt: Date | null
}

/** Returns whether enough time of the call is left to sign or send something. */
export function mayBegin({ deadline }: WorkBounds): boolean {
  return deadline.leftMs() > deadline.limitMs / LAST_SHARE
}

/** Returns whether a seller would still accept the authorization. */
export function isUsable({ authorization }: Pick<PurchasePayment, 'authorization'>, now: Date): boolean {
  return now.getTime() < authorization.validBefore.getTime() - VALIDITY_MARGIN_MS
}

/**
 * Sends the agent's request with the payment header, and keeps the seller's response. If the response is lost or breaks
 * off, sends the same header again: the chain accepts its authorization only once. Returns the best that has arrived,
 * now or earlier. The seller's response does not prove whether the payment was settled (D66). Follows no redirect (D69).
 */
export async function sendPaidRequest(
  ctx: Context,
  {
    payment,
    purchase,
    order,
    header,
    request,
  }: {
    readonly payment: PurchasePayment
    readonly purchase: SealedPurchase
    readonly order: PurchaseOrder
    readonly header: PaymentHeader
    readonly request: AgentRequest
  },
  bounds: WorkBounds,
): Promise<Delivered> {
  const { stopping, deadline } = bounds
  const mayAsk = (): boolean => !stopping.aborted && isUsable(payment, ctx.clock.now()) && mayBegin(bounds)
  let best = readDelivered(ctx, purchase)
  for (let sends = 0; sends <= RESENDS_MAX && mayAsk(); sends += 1) {
    if (sends > 0) await delay(RESEND_DELAY_MS)
    await ctx.db.write(countPaidRequest(placeOf(payment)))
    const sent = fetchResource(ctx.resources, {
      url: order.url,
      method: order.method,
      headers: { ...headersFor(order, request, header), [header.name.toLowerCase()]: header.value },
      body: order.method === request.method ? request.body : null,
      timeoutMs: Math.min(PAID_REQUEST_MS_MAX, deadline.leftMs()),
      responseBytesMax: ANSWER_BYTES_MAX,
      redirectsMax: 0,
      onEnd: ctx.outboundTrace.of(payment),
    })
    const result = await untilStopped(sent, stopping)
    if (result === null || result.answer.error === 'blocked_address') break
    const {
      isTruncated,
      answer: { statusCode: status, headers, responseBody, error },
    } = result
    if (status !== null) {
      const answer = toKeptAnswer({ status, headers, body: responseBody ?? EMPTY, isTruncated })
      const arrived = {
        delivery: deliveryOf({ status, isBroken: error !== null }),
        answer,
        respondedAt: ctx.clock.now(),
      }
      const response = { ...arrived, status, headers, body: responseBody, isTruncated }
      const kept = await keep(ctx, payment, arrived, () => readFirstAnswer(ctx, { payment, order, response }))
      // If nothing can be stored, the goods may not come again, so the agent gets what has arrived.
      if (kept === null) return arrived.delivery === 'delivered' || best.answer === null ? arrived : best
      best = kept
      if (best.delivery !== 'unknown') return best
    }
    ctx.logger.warn({ ...nameInLog(payment), reason: error }, 'the answer to a purchase was lost')
  }
  return best
}

const EMPTY = Buffer.alloc(0)

function readDelivered({ sealer }: Pick<Context, 'sealer'>, purchase: SealedPurchase): Delivered {
  const { delivery, respondedAt } = purchase
  return { delivery: delivery ?? 'unknown', answer: openAnswer(sealer, purchase), respondedAt }
}

/**
 * Stores what has arrived, unless something better is stored. Returns what is stored then. Returns null if the database
 * fails: nothing that it does may keep an answer from the agent. If the database does not accept the seller's status,
 * stores the answer without it, because the sealed answer contains it too.
 */
async function keep(
  ctx: Context,
  payment: Payment,
  arrived: Arrived,
  read: () => FirstAnswer,
): Promise<Delivered | null> {
  const place = placeOf(payment)
  const { delivery, answer, respondedAt: now } = arrived
  try {
    const sealed = sealAnswer(ctx.sealer, place, answer)
    const stored = { delivery, status: answer.status, sealed, now, firstAnswer: read() }
    const store = async (status: number | null): Promise<boolean> =>
      await ctx.db.write(storeAnswer(place, { ...stored, status }), { isOutcome: true })
    const isStored = await store(answer.status).catch(async (error: unknown) => {
      if (!isRejectedValue(error)) throw error
      ctx.logger.error({ err: error, ...nameInLog(payment) }, 'the status of an answer could not be stored')
      return await store(null)
    })
    if (isStored) return arrived
    const purchase = await ctx.db.read(findPurchase(place))
    return purchase === null ? arrived : readDelivered(ctx, purchase)
  } catch (error) {
    ctx.logger.error({ err: error, ...nameInLog(payment) }, 'the answer to a purchase could not be stored')
    return null
  }
}

/**
 * Returns the headers of the agent's request. If a redirect led to a seller at another origin, returns harmless ones
 * only, because the agent did not name that server.
 */
function headersFor(
  { url }: PurchaseOrder,
  request: AgentRequest,
  header: PaymentHeader,
): Readonly<Record<string, string>> {
  const isSameOrigin = new URL(url).origin === new URL(request.url).origin
  const { [header.name.toLowerCase()]: _replaced, ...headers } = request.headers
  return isSameOrigin ? headers : keepHarmlessHeaders(headers)
}

/** Awaits work. Once the service begins to stop, waits at most `STOP_WAIT_MS` longer, and then returns null. */
async function untilStopped<Result>(work: Promise<Result>, stopping: AbortSignal): Promise<Result | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  let timer: NodeJS.Timeout | undefined
  const onStop = (): void => {
    timer = setTimeout(() => resolve(null), STOP_WAIT_MS)
  }
  if (stopping.aborted) onStop()
  else stopping.addEventListener('abort', onStop, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    stopping.removeEventListener('abort', onStop)
    clearTimeout(timer)
  }
}
