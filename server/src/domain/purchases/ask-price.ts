import { cutText } from '../../lib/cut-text.ts'
import { fetchResource } from '../../lib/outbound/fetch-resource.ts'
import type { OutboundError } from '../../lib/outbound/outbound-error.ts'
import type { Mode } from '../../values/mode.ts'
import { formatAmount, type MicroUsdc } from '../../values/money.ts'
import { problem, type Problem } from '../../values/problem.ts'
import { chooseOffer } from '../../x402/choose-offer.ts'
import { headerBytes, PAYMENT_HEADER_BYTES_MAX, REQUEST_HEAD_BYTES_MAX } from '../../x402/header-size.ts'
import type { Offer, PaymentRequired } from '../../x402/payment-required.ts'
import type { PayingRequest } from '../../x402/read-offer.ts'
import { readPaymentRequired } from '../../x402/read-payment-required.ts'
import type { Context } from '../context.ts'
import type { RequestSource } from '../outbound-requests/outbound-request.ts'
import { toKeptAnswer } from './keep-answer.ts'
import type { AgentRequest } from './purchase-request.ts'
import type { KeptAnswer } from './seal-purchase.ts'
import { ANSWER_BYTES_MAX } from './send-paid-request.ts'

/** The limits of the request that asks for the price before a purchase. The time covers its redirects too. */
export const PRICE_LIMITS = { timeoutMs: 30_000, answerBytesMax: ANSWER_BYTES_MAX }
/** How many redirects are followed while asking for the price. None is followed with a payment (D69). */
const REDIRECTS_MAX = 3
/** The headers that we add to the agent's request, such as `host` and `user-agent`, take at most this much. */
const OWN_BYTES_MAX = 512
/** How much is shown to the agent of the URL to which a redirect points. */
const LOCATION_CHARS_MAX = 2_048
/** How much of an answer that we do not understand is shown to the agent. */
const UNKNOWN_BODY_BYTES_MAX = 2_048

export type AskedPrice =
  /** The resource asks for no payment, so the answer is the resource itself. */
  | { readonly kind: 'free'; readonly answer: KeptAnswer }
  | { readonly kind: 'unknown'; readonly status: number; readonly body: string }
  /** `url` is the URL that asked for the payment, after redirects. */
  | { readonly kind: 'required'; readonly required: PaymentRequired; readonly url: string }

interface PriceQuestion {
  readonly source: RequestSource
  readonly request: AgentRequest
  readonly timeoutMs: number
  readonly answerBytesMax: number
  /** Ends the request. */
  readonly signal: AbortSignal
}

/**
 * Sends an agent's request without a payment. Throws 400 `resource_url_not_allowed` if the URL or its address is not
 * allowed, 502 `resource_unreachable` if there is no complete answer, and 400 `resource_redirected` if a redirect would
 * change an order, or take it to another origin (D69).
 */
export async function askPrice(
  ctx: Context,
  { source, request, timeoutMs, answerBytesMax, signal }: PriceQuestion,
): Promise<AskedPrice> {
  const { answer, url, stoppedAt, isTruncated } = await fetchResource(ctx.resources, {
    ...request,
    timeoutMs,
    responseBytesMax: answerBytesMax,
    redirectsMax: REDIRECTS_MAX,
    signal,
    onEnd: ctx.outboundTrace.of(source),
  })
  const { statusCode: status, headers, responseBody, error } = answer
  if (status === null) throw unreachable(error ?? 'invalid_response')
  if (stoppedAt !== null) {
    const details = { status, untrusted_location: cutText(stoppedAt, LOCATION_CHARS_MAX) }
    throw problem('resource_redirected', { details })
  }
  const body = responseBody ?? Buffer.alloc(0)
  if (status !== 402) return { kind: 'free', answer: toKeptAnswer({ status, headers, body, isTruncated }) }
  const sent = { sentBytes: headBytes({ ...request, url }), body: request.body }
  const required = readPaymentTerms(ctx, source.mode, { status, headers, body }, sent)
  // What is missing of the body may be the terms.
  if (required === null && error !== null) throw unreachable(error)
  if (required === null) return { kind: 'unknown', status, body: shorten(body) }
  return { kind: 'required', required, url }
}

/**
 * Reads what a 402 answer asks for. `sentBytes` is the size of the request line and the headers that will be sent beside
 * the payment header, and `body` is the body of this request. Both are about a request of ours: if the agent sends it,
 * there is neither. Returns null for a protocol that we do not know.
 */
export function readPaymentTerms(
  ctx: Pick<Context, 'chains' | 'clock'>,
  mode: Mode,
  answer: Parameters<typeof readPaymentRequired>[0],
  { sentBytes, body }: { readonly sentBytes: number; readonly body: PayingRequest['body'] },
): PaymentRequired | null {
  const { chainId, usdc } = ctx.chains[mode]
  const headerBytesMax = Math.min(PAYMENT_HEADER_BYTES_MAX, REQUEST_HEAD_BYTES_MAX - sentBytes)
  return readPaymentRequired(answer, { chainId, usdc, now: ctx.clock.now() }, { headerBytesMax, body })
}

function headBytes({ method, url, headers }: AgentRequest): number {
  const line = Buffer.byteLength(`${method} ${url} HTTP/1.1\r\n`)
  return Object.entries(headers).reduce((sum, [name, value]) => sum + headerBytes(name, value), line + OWN_BYTES_MAX)
}

/**
 * Chooses the offer that is paid. Throws 400 `price_too_high` if all offers that we can pay are above the maximum, and
 * 400 `payment_option_unsupported` if we can pay none of the offers.
 */
export function requireOffer(required: PaymentRequired, maxAmountMicro: MicroUsdc): Offer {
  const choice = chooseOffer(required, { maxAmountMicro })
  switch (choice.kind) {
    case 'chosen':
      return choice.offer
    case 'too_expensive':
      throw problem('price_too_high', {
        details: {
          price_usdc: formatAmount(choice.cheapest.amountMicro),
          max_amount_usdc: formatAmount(maxAmountMicro),
          unread_options: required.unread,
        },
      })
    case 'none':
      throw problem('payment_option_unsupported', {
        details: { skipped: required.skipped, unread_options: required.unread },
      })
  }
}

export function protocolUnknown({ status, body }: { status: number; body: string }): Problem {
  return problem('payment_protocol_unknown', { details: { status, untrusted_body: body } })
}

function unreachable(reason: OutboundError): Problem {
  return reason === 'blocked_address'
    ? problem('resource_url_not_allowed', { details: { reason } })
    : problem('resource_unreachable', { details: { reason } })
}

function shorten(body: Buffer): string {
  // As a part of a stream, so that a character at the end that is cut is left out.
  return new TextDecoder().decode(body.subarray(0, UNKNOWN_BODY_BYTES_MAX), { stream: true })
}
