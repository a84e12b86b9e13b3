import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import { PURCHASE_REFUSAL_CODES } from '../../domain/payment-requests/admission-refusal.ts'
import { formatPayment } from '../../domain/payments/format-payment.ts'
import { checkResource, scopeToAsk } from '../../domain/purchases/check-resource.ts'
import { findByKey, replayPurchase, type EarlierPurchase } from '../../domain/purchases/find-earlier-purchase.ts'
import { formatAnswer, formatPrice, formatPurchase } from '../../domain/purchases/format-purchase.ts'
import { readRequest } from '../../domain/purchases/read-request.ts'
import { payForResource, type Course } from '../../domain/purchases/pay-for-resource.ts'
import { PriceSchema, PurchaseSchema, ResourceAnswerSchema } from '../../domain/purchases/purchase-schema.ts'
import type { PurchaseTerms } from '../../domain/purchases/purchase-request.ts'
import { signForResource } from '../../domain/purchases/sign-for-resource.ts'
import type { PurchaseState } from '../../domain/purchases/work-on-purchase.ts'
import type { Origins } from '../../http/hosts.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { openDeadline } from '../../lib/deadline.ts'
import { leaveWork } from '../../http/overload-gate.ts'
import { toValidationProblem } from '../../http/to-problem.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { Problem } from '../../values/problem.ts'
import { orNull } from '../../values/schema-fields.ts'
import { requireScope } from '../authenticate.ts'
import { callerOf } from '../caller.ts'
import { checkIdempotencyHeader, parseIdempotencyKey } from '../parse-payment.ts'
import { parseBuyer, parseCompared, parseReceived, parsePurchaseTerms } from '../parse-purchase.ts'
import { CheckResourceBody, PayResourceBody, SignResourceBody } from '../purchase-schemas.ts'
import { MISMATCH_HEADER, REPLAY_HEADER } from '../replay-headers.ts'
import type { Authenticate } from './agents.ts'

const NullablePayment = Type.Union([Type.Ref('Payment'), Type.Null()])
const NullablePurchase = Type.Union([Type.Ref('Purchase'), Type.Null()])

const PaidResource = Type.Object(
  {
    payment: NullablePayment,
    purchase: NullablePurchase,
    response: Type.Union([Type.Ref('ResourceAnswer'), Type.Null()]),
    delivery: orNull(Type.String({ description: 'The same as `purchase.delivery`. Null if nothing was bought.' })),
  },
  {
    description:
      'The response of the resource, and the payment for it. `payment` is null if the resource asked for no payment. `response` is null if no response has arrived, or if it is older than 24 hours.',
  },
)

const SignedPayment = Type.Object(
  {
    payment: Type.Ref('Payment'),
    purchase: NullablePurchase,
    header_name: orNull(Type.String({ description: 'The header to send with your request to the resource.' })),
    header_value: orNull(
      Type.String({
        description: 'The value of the header. Anyone who has it can take the amount for the payee, once.',
      }),
    ),
  },
  {
    description:
      'The payment, and the payment header. The header is null if the payment has failed, or if another request was still signing it: then send the same request again.',
  },
)

/** A purchase needs no gas from the wallet. */
const REFUSALS = PURCHASE_REFUSAL_CODES.filter((code) => code !== 'insufficient_gas')
const BUYING_ERRORS = [
  'idempotency_key_in_header',
  'amount_invalid',
  'address_invalid',
  ...REFUSALS,
  'price_too_high',
  'payment_protocol_unknown',
  'payment_option_unsupported',
  'challenge_already_paid',
  'privy_call_failed',
] as const
const OUTBOUND_ERRORS = ['resource_url_not_allowed', 'resource_unreachable', 'resource_redirected'] as const

export function addX402Routes(
  http: HttpServer,
  ctx: Context,
  { authenticate, origins }: { authenticate: Authenticate; origins: Origins },
): void {
  http.addSchema(PurchaseSchema)
  http.addSchema(ResourceAnswerSchema)
  const stopping = new AbortController()
  http.addHook('preClose', async () => stopping.abort())
  /**
   * A purchase continues if its client disconnects. While a purchase waits for a seller, the overload gate does not
   * count it.
   */
  const courseOf = (request: FastifyRequest): Course => {
    return { stopping: stopping.signal, onWait: () => leaveWork(request) }
  }

  http.post(
    '/v1/x402/check',
    {
      onRequest: authenticate({ bucket: 'default' }),
      schema: {
        operationId: 'checkPrice',
        summary: 'Ask what an HTTP resource costs',
        description:
          'Sends your request to the resource without a payment, and returns what the resource asks for (x402 version 1 and ' +
          '2, or MPP). Pays and records nothing. A method other than GET and HEAD needs the scope x402:pay, because it may ' +
          'change something there. With agent_id and wallet, also says whether the limits would allow the purchase now.',
        tags: ['Purchases'],
        body: CheckResourceBody,
        response: { 200: PriceSchema },
        errors: ['insufficient_scope', 'address_invalid', ...OUTBOUND_ERRORS],
      },
    },
    async (request, reply) => {
      const { workspaceId, mode, credentialId, agentId: boundAgentId } = callerOf(request)
      const buyer = parseBuyer(request.body)
      const resource = readRequest(request.body, ctx.outbound)
      const scope = scopeToAsk(resource.method)
      if (scope !== null) requireScope(request, { reply, origins, scope })
      const price = { workspaceId, mode, credentialId, boundAgentId, request: resource, buyer }
      return formatPrice(await checkResource(ctx, price, courseOf(request)))
    },
  )

  http.post(
    '/v1/x402/pay',
    {
      onRequest: authenticate({ bucket: 'payments', scope: 'x402:pay' }),
      config: { load: 'purchase' },
      attachValidation: true,
      schema: {
        operationId: 'payForResource',
        summary: 'Fetch an HTTP resource, and pay what it asks for',
        description:
          'Sends your request to the resource. If the resource asks for a payment (x402 version 1 and 2, or MPP) of at most ' +
          'max_amount_usdc, and the limits allow it, signs the payment, sends the request again with it, and returns ' +
          'the response. This can take two minutes. If you lose the response, send the same request with the same ' +
          'idempotency_key again: it never pays twice, and returns the stored response for 24 hours. The delivery says ' +
          'whether the seller delivered, and the status of the payment whether the money has moved; one says nothing about the ' +
          'other. A resource that asks for nothing is returned with payment null.',
        tags: ['Purchases'],
        body: PayResourceBody,
        response: { 200: PaidResource },
        replyHeaders: [REPLAY_HEADER, MISMATCH_HEADER],
        errors: [...BUYING_ERRORS, 'storage_full', ...OUTBOUND_ERRORS],
      },
    },
    async (request, reply) => {
      const course = courseOf(request)
      const readRest = () => ({ request: readRequest(request.body, ctx.outbound) })
      const { purchase, earlier } = await readPurchase(ctx, request, { how: 'pay', course, readRest })
      if (earlier !== null) return formatReplayed(reply, earlier)
      const outcome = await payForResource(ctx, purchase, course)
      switch (outcome.kind) {
        case 'free':
          return { payment: null, purchase: null, response: formatAnswer(outcome.answer), delivery: null }
        case 'bought':
          return formatBought(outcome.state)
        case 'replayed':
          return formatReplayed(reply, outcome.earlier)
      }
    },
  )

  http.post(
    '/v1/x402/sign',
    {
      onRequest: authenticate({ bucket: 'payments', scope: 'x402:pay' }),
      config: { load: 'purchase' },
      attachValidation: true,
      schema: {
        operationId: 'signForResource',
        summary: 'Sign a payment for a resource that you fetch yourself',
        description:
          'Takes what a resource asked for, and returns the payment header. The limits are those of POST /v1/x402/pay. Send ' +
          'your request to the resource again with this header, within two minutes. The same idempotency_key returns the ' +
          'same header. The payment is confirmed when the seller has used it on the chain.',
        tags: ['Purchases'],
        body: SignResourceBody,
        response: { 201: SignedPayment },
        replyHeaders: [REPLAY_HEADER, MISMATCH_HEADER],
        errors: [...BUYING_ERRORS],
      },
    },
    async (request, reply) => {
      const course = courseOf(request)
      const readRest = () => ({ received: parseReceived(request.body, request.jsonText) })
      const { purchase, earlier } = await readPurchase(ctx, request, { how: 'sign', course, readRest })
      void reply.code(201)
      if (earlier !== null) return formatSigned(setReplayHeaders(reply, earlier))
      const outcome = await signForResource(ctx, purchase, course)
      return formatSigned(outcome.kind === 'signed' ? outcome.state : setReplayHeaders(reply, outcome.earlier))
    },
  )
}

type KeyedRequest = Pick<FastifyRequest, 'headers' | 'body' | 'validationError'>

/** Returns the idempotency key, which every purchase has. It is read before the rest of the body (D18). */
function readKey(request: KeyedRequest): string {
  const key = parseIdempotencyKey(request.body)
  checkIdempotencyHeader(request.headers, key)
  if (key !== null) return key
  failInvalid(request)
  throw invalidMember('idempotency_key', 'is required')
}

function failInvalid({ validationError }: KeyedRequest): void {
  if (validationError !== undefined) throw toValidationProblem(validationError)
}

/**
 * Reads a request that buys. For a request that is not valid, finds the existing payment with the same idempotency key
 * (D18), without signing or sending anything. Throws the error of the request if there is no such payment.
 */
async function readPurchase<Rest>(
  ctx: Context,
  request: FastifyRequest & { readonly body: Parameters<typeof parsePurchaseTerms>[0] },
  { how, course, readRest }: { how: 'pay' | 'sign'; course: Course; readRest: () => Rest },
): Promise<
  | { readonly purchase: { readonly terms: PurchaseTerms } & Rest; readonly earlier: null }
  | { readonly purchase: null; readonly earlier: EarlierPurchase }
> {
  const caller = callerOf(request)
  const idempotencyKey = readKey(request)
  try {
    failInvalid(request)
    return {
      purchase: { terms: parsePurchaseTerms(request.body, caller, idempotencyKey), ...readRest() },
      earlier: null,
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const key = { ...caller, idempotencyKey, boundAgentId: caller.agentId }
    const compared = parseCompared(request.body, how)
    const payment = await findByKey(ctx, key)
    if (payment === null) throw error
    const bounds = { ...course, deadline: openDeadline(0) }
    return { purchase: null, earlier: await replayPurchase(ctx, { key, payment, compared, request: null }, bounds) }
  }
}

function formatBought({ payment, purchase, answer }: Omit<PurchaseState, 'header'>) {
  return {
    payment: formatPayment(payment),
    purchase: formatPurchase(purchase),
    response: answer === null ? null : formatAnswer(answer),
    delivery: purchase.delivery,
  }
}

function formatReplayed(reply: FastifyReply, earlier: EarlierPurchase) {
  const { payment, purchase, state } = setReplayHeaders(reply, earlier)
  if (state !== null) return formatBought(state)
  return {
    payment: formatPayment(payment),
    purchase: purchase === null ? null : formatPurchase(purchase),
    response: null,
    delivery: purchase?.delivery ?? null,
  }
}

function formatSigned(known: PurchaseState | EarlierPurchase) {
  const header = 'header' in known ? known.header : (known.state?.header ?? null)
  return {
    payment: formatPayment(known.payment),
    purchase: known.purchase === null ? null : formatPurchase(known.purchase),
    header_name: header?.name ?? null,
    header_value: header?.value ?? null,
  }
}

function setReplayHeaders(reply: FastifyReply, earlier: EarlierPurchase): EarlierPurchase {
  void reply.header(REPLAY_HEADER, 'true')
  if (earlier.mismatches.length > 0) void reply.header(MISMATCH_HEADER, earlier.mismatches.join(', '))
  return earlier
}
