import { BursarError, ConnectionError, nameErrors, type ErrorContext } from './errors.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
import type { CallOptions } from './send.ts'
import type { Identity, PaidAnswer, Payment, PayParams, ResourceAnswer } from './types.ts'
import type { X402 } from './x402.ts'

/** The bounds of a purchase by `bursar.fetch`. */
export interface FetchOptions extends Omit<CallOptions, 'signal'> {
  /** The most that the resource may cost, in decimal USDC, such as `0.05`. */
  readonly maxAmountUsdc: string
  /**
   * The id of this purchase: 1 to 64 characters, such as the id of the task that needs the resource. The same id never
   * pays twice, and gets the same response for 24 hours. Without it, the client makes a new id for each call.
   */
  readonly purchaseId?: string | undefined
  /** The agent that pays. By default, the client asks the service for the agent of the credential. */
  readonly agentId?: string | undefined
  /** The wallet that pays. The default is the only wallet that the agent can spend from. */
  readonly wallet?: string | undefined
  /** A note for the ledger, at most 200 characters. */
  readonly memo?: string | undefined
}

/** What `bursar.fetch` adds to the response of the resource. */
export interface PaidPurchase {
  /** The payment, or null if the resource asked for none. Its status says whether the money has moved. */
  readonly payment: Payment | null
  /**
   * `delivered` or `failed`: whether the seller responded to the paid request with a success. `unknown` if its response
   * broke off: then reading the body fails, and a call with the same purchase id asks for all of it. Null without a
   * payment.
   */
  readonly delivery: string | null
  readonly purchaseId: string
}

/** The response of a resource, with what is known about the purchase. */
export interface PaidResponse extends Response {
  readonly purchase: PaidPurchase
}

/**
 * The seller's response cannot be returned: it is not known or no longer stored, or the payment has failed. If
 * `payment.status` is `failed`, `outcome` is `not_paid`, and this purchase id can no longer pay. Otherwise the money
 * may have moved: calling again with the same purchase id asks for the response again, and never pays twice.
 */
export class PurchaseUnansweredError extends BursarError {
  static {
    nameErrors(this, 'PurchaseUnansweredError')
  }

  readonly payment: Payment | null
  readonly delivery: string | null

  constructor(answer: PaidAnswer, context: ErrorContext) {
    super(
      answer.payment?.status === 'failed'
        ? `Nothing was paid and nothing was bought: the payment failed (${answer.payment.failure_code ?? 'no code'}).`
        : 'The response of the seller is not known. The payment may have been made: see its status.',
      context,
    )
    this.payment = answer.payment
    this.delivery = answer.delivery
  }
}

/** Statuses of responses that have no body. */
const NULL_BODY_STATUSES = [204, 205, 304]
/** The statuses that the constructor of `Response` accepts. */
const STATUS_MIN = 200
const STATUS_MAX = 599
/** These headers describe how the service received the body. It removes `content-encoding` if it has decoded the body. */
const HEADERS_OF_TRANSFER = ['content-length', 'transfer-encoding']
/** How many bytes are passed to `String.fromCharCode` in one call. */
const CHUNK_BYTES = 8_192

type Method = NonNullable<PayParams['method']>

/** Fetches a resource through `POST /v1/x402/pay`, and returns the response as `fetch` would. */
export async function fetchPaid(
  { x402, me }: { readonly x402: X402; readonly me: () => Promise<Identity> },
  request: Request,
  { maxAmountUsdc, purchaseId, agentId, wallet, memo, ...options }: FetchOptions,
): Promise<PaidResponse> {
  const payer = await findPayer(me, { agentId, wallet })
  const key = purchaseId ?? createIdempotencyKey()
  const params: PayParams = {
    ...payer,
    ...(await readRequest(request)),
    max_amount_usdc: maxAmountUsdc,
    idempotency_key: key,
    ...(memo === undefined ? {} : { memo }),
  }
  const paid = await x402.pay(params, { ...options, signal: request.signal }).withResponse()
  const { response, payment, delivery } = paid.data
  const context: ErrorContext = { ...paid, outcome: payment?.status === 'failed' ? 'not_paid' : 'unknown' }
  if (response === null) throw new PurchaseUnansweredError(paid.data, context)
  return createResponse(response, {
    url: request.url,
    context,
    purchase: { payment, delivery, purchaseId: key },
  })
}

/** Finds out who pays, if the caller does not say it and there is only one possibility. */
async function findPayer(
  me: () => Promise<Identity>,
  { agentId, wallet }: { agentId: string | undefined; wallet: string | undefined },
): Promise<{ agent_id: string; wallet: string }> {
  if (agentId !== undefined && wallet !== undefined) return { agent_id: agentId, wallet }
  const { agent_id: ownId, wallets } = await me()
  const agent = agentId ?? ownId
  if (agent === null) throw new TypeError('This credential is bound to no agent: set agentId.')
  // An entry without a member agent_id is a wallet of the credential's own agent.
  const own = wallets.filter((entry) => (entry.agent_id ?? ownId) === agent).map(({ address }) => address)
  const [only, ...others] = wallet === undefined ? own : [wallet]
  if (only === undefined) throw new TypeError(`The agent ${agent} can spend from no wallet.`)
  if (others.length > 0) throw new TypeError(`The agent ${agent} can spend from ${own.join(', ')}: set wallet.`)
  return { agent_id: agent, wallet: only }
}

async function readRequest(request: Request): Promise<Pick<PayParams, 'url' | 'method' | 'headers'> & object> {
  const bytes = new Uint8Array(await request.arrayBuffer())
  return {
    url: request.url,
    // The type lists the methods that the service accepts. The service itself rejects all other methods.
    method: request.method as Method,
    headers: Object.fromEntries(request.headers),
    ...(bytes.length === 0 ? {} : encodeBody(bytes)),
  }
}

function encodeBody(bytes: Uint8Array): Pick<PayParams, 'body' | 'body_base64'> {
  try {
    return { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    let binary = ''
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES))
    }
    return { body_base64: btoa(binary) }
  }
}

function createResponse(
  answer: ResourceAnswer,
  { url, context, purchase }: { url: string; context: ErrorContext; purchase: PaidPurchase },
): PaidResponse {
  const { status } = answer
  const isStandard = status >= STATUS_MIN && status <= STATUS_MAX
  const headers = new Headers(Object.entries(answer.headers).filter(([name]) => !HEADERS_OF_TRANSFER.includes(name)))
  const body = NULL_BODY_STATUSES.includes(status) ? null : decodeBody(answer, context)
  const response = new Response(body, { status: isStandard ? status : STATUS_MIN, headers })
  Object.defineProperty(response, 'url', { value: url })
  if (!isStandard) Object.defineProperties(response, { status: { value: status }, ok: { value: false } })
  return Object.assign(response, { purchase })
}

function decodeBody(
  { body, body_base64: base64, truncated }: ResourceAnswer,
  context: ErrorContext,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  const bytes =
    base64 === null
      ? new TextEncoder().encode(body ?? '')
      : Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return truncated ? breakOff(bytes, context) : bytes
}

/** Makes a body that fails at its end, as the body of `fetch` does when the connection is cut. */
function breakOff(bytes: Uint8Array, context: ErrorContext): ReadableStream<Uint8Array> {
  let isSent = bytes.length === 0
  return new ReadableStream({
    pull: (controller) => {
      if (isSent)
        controller.error(
          new ConnectionError('The rest of the body is missing: it is over 1 MiB, or broke off.', context),
        )
      else controller.enqueue(bytes)
      isSent = true
    },
  })
}
