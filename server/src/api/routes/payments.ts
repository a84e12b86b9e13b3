import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import { EvidenceSchema } from '../../domain/evidence/evidence-schema.ts'
import { getEvidence } from '../../domain/evidence/get-evidence.ts'
import { ADMISSION_REFUSAL_CODES, PURCHASE_REFUSAL_CODES } from '../../domain/payment-requests/admission-refusal.ts'
import { compareRequest } from '../../domain/payment-requests/compare-request.ts'
import { createPayment } from '../../domain/payment-requests/create-payment.ts'
import { formatPreview } from '../../domain/payment-requests/format-preview.ts'
import { findExisting, previewPayment } from '../../domain/payment-requests/preview-payment.ts'
import { PreviewSchema } from '../../domain/payment-requests/preview-schema.ts'
import { formatPayment } from '../../domain/payments/format-payment.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import type { PaymentRequest } from '../../domain/payment-requests/payment-request.ts'
import { findPurchaseOf } from '../../domain/purchases/find-earlier-purchase.ts'
import { formatPurchase } from '../../domain/purchases/format-purchase.ts'
import { PaymentSchema } from '../../domain/payments/payment-schema.ts'
import { PAYMENT_WAIT_SECONDS_MAX, waitForPayment } from '../../domain/reconciliation/wait-for-payment.ts'
import { replayPayment } from '../../domain/payment-requests/replay-payment.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { evidenceHeaders } from '../../http/evidence-headers.ts'
import { leaveSubmission, leaveWork } from '../../http/overload-gate.ts'
import { createRequestSignals } from '../../http/request-signals.ts'
import { toValidationProblem } from '../../http/to-problem.ts'
import type { Address } from '../../values/address.ts'
import { Problem, refusalProblem } from '../../values/problem.ts'
import { type Caller, callerOf } from '../caller.ts'
import {
  checkIdempotencyHeader,
  parseComparedRequest,
  type ParsedPayment,
  parseIdempotencyKey,
  parsePayment,
} from '../parse-payment.ts'
import { MISMATCH_HEADER, REPLAY_HEADER } from '../replay-headers.ts'
import { CreatePaymentBody, PathId, PaymentQuery } from '../schemas.ts'
import { describeChoice } from '../contract/errors.ts'
import type { Authenticate } from './agents.ts'
import { invalidMember } from '../../values/invalid-request.ts'

const WHOLE_SECONDS = /^(?:0|[1-9]\d?)$/

const PaymentResponse = Type.Object(
  { payment: Type.Ref('Payment') },
  { description: 'The payment with its current status.' },
)
const ReadPaymentResponse = Type.Object(
  {
    payment: Type.Ref('Payment'),
    purchase: Type.Optional(Type.Ref('Purchase')),
  },
  { description: 'The payment with its current status. `purchase` is only present if the kind is `x402`.' },
)
const REFUSAL = {
  $id: 'PaymentRefusal',
  description: 'The error with which the limits reject the payment. It is the error that the payment would get.',
}

export function addPaymentRoutes(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  http.addSchema(PaymentSchema)
  for (const schema of describeChoice(REFUSAL, PURCHASE_REFUSAL_CODES)) http.addSchema(schema)
  http.addSchema(PreviewSchema)
  http.addSchema(EvidenceSchema)
  const signalOf = createRequestSignals(http)

  http.post(
    '/v1/payments',
    {
      onRequest: authenticate({ bucket: 'payments', scope: 'wallet:transfer' }),
      config: { load: 'payment' },
      // The handler checks the result of the validation. It returns an existing payment with the same idempotency key
      // even if the rest of the body is not valid (D18).
      attachValidation: true,
      schema: {
        operationId: 'createPayment',
        summary: 'Sign and broadcast a USDC transfer',
        description:
          'Responds as soon as the enclave has accepted the signed request. The payment is confirmed later, when the chain ' +
          'includes it. If a limit rejects the payment, the response is a 4xx and no payment is created. If the enclave ' +
          'rejects it, the payment has the status failed. The same idempotency_key never pays twice: the existing payment ' +
          'is returned with the header Idempotent-Replayed: true. If the request differs from this payment, the header ' +
          'Idempotent-Mismatch names the fields, such as: to, amount_usdc. An OAuth token requires the scope wallet:transfer, and ' +
          'can pay only as the agent of its connection.',
        tags: ['Payments'],
        body: CreatePaymentBody,
        response: { 201: PaymentResponse },
        replyHeaders: [REPLAY_HEADER, MISMATCH_HEADER],
        errors: [
          'idempotency_key_in_header',
          'amount_invalid',
          'address_invalid',
          ...ADMISSION_REFUSAL_CODES,
          'privy_call_failed',
        ],
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { workspaceId, mode, agentId: boundAgentId } = caller
      const { idempotencyKey, parsed } = readRequest(request, ctx.chains[mode].usdc)
      const onSubmit = (): void => leaveSubmission(request)
      if (parsed instanceof Problem) {
        onSubmit()
        const replayed = await replayPayment(ctx, { workspaceId, mode, idempotencyKey, boundAgentId })
        if (replayed === null) throw parsed
        setReplayHeaders(reply, replayed, request.body)
        return reply.code(201).send({ payment: formatPayment(replayed) })
      }
      const outcome = await createPayment(ctx, toPaymentRequest(caller, parsed), { onSubmit })
      if (outcome.kind === 'refused') throw refusalProblem(outcome.refusal)
      if (outcome.kind === 'replayed') setReplayHeaders(reply, outcome.payment, request.body)
      return reply.code(201).send({ payment: formatPayment(outcome.payment) })
    },
  )

  http.post(
    '/v1/payments/preview',
    {
      onRequest: authenticate({ bucket: 'default', scope: 'wallet:transfer' }),
      attachValidation: true,
      schema: {
        operationId: 'previewPayment',
        summary: 'Check whether a payment would be allowed',
        description:
          'Takes the body of POST /v1/payments and makes the same checks in the same order, but pays, reserves and records ' +
          'nothing. If a check of the limits rejects the request, the response is 200 with allowed false and the error ' +
          'that the payment would get. A body that is not valid is a 4xx, as for a payment. If the idempotency_key belongs ' +
          'to an existing payment, the response contains this payment, and has the headers with which POST /v1/payments returns it. Another payment may use what is left before you pay.',
        tags: ['Payments'],
        body: CreatePaymentBody,
        response: {
          200: Type.Object({ preview: Type.Ref('PaymentPreview') }, { description: 'Whether the payment is allowed.' }),
        },
        errors: ['idempotency_key_in_header', 'amount_invalid', 'address_invalid'],
        replyHeaders: [REPLAY_HEADER, MISMATCH_HEADER],
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { workspaceId, mode } = caller
      const { idempotencyKey, parsed } = readRequest(request, ctx.chains[mode].usdc)
      if (parsed instanceof Problem) {
        const payment = await findExisting(ctx, { workspaceId, mode, idempotencyKey })
        if (payment === null) throw parsed
        setReplayHeaders(reply, payment, request.body)
        return { preview: formatPreview({ kind: 'existing', payment }) }
      }
      const preview = await previewPayment(ctx, toPaymentRequest(caller, parsed))
      if (preview.kind === 'existing') setReplayHeaders(reply, preview.payment, request.body)
      return { preview: formatPreview(preview) }
    },
  )

  // `GET /v1/payments` is not an endpoint (D53). The error says where payments are listed.
  http.get('/v1/payments', { config: { rejectsAll: true }, schema: { hide: true } }, async () => {
    throw new Problem('not_found', 'There is no endpoint at this path. To list payments, use GET /v1/ledger.')
  })

  http.get(
    '/v1/payments/:id',
    {
      onRequest: authenticate({ bucket: 'default' }),
      // `parsePaymentQuery` parses the query. The schema only describes the query in `openapi.json`.
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'getPayment',
        summary: 'Retrieve one payment',
        description:
          'If the payment is pending and has a tx_hash, its status is first updated from the chain. With wait, the ' +
          'response is sent when the payment is confirmed or failed, or after wait seconds with the payment as it stands. ' +
          'If very many requests wait already, the response is sent at once, so check the status. Without wait, poll at ' +
          'most once every 2 seconds.',
        tags: ['Payments'],
        params: PathId,
        querystring: PaymentQuery,
        response: { 200: ReadPaymentResponse },
        errors: ['not_found'],
      },
    },
    async (request, reply) => {
      const { workspaceId, mode } = callerOf(request)
      const { id } = request.params
      const { waitMs } = parsePaymentQuery(request.query)
      const signal = signalOf(reply)
      const onWait = (): void => leaveWork(request)
      // Withdrawals are not found here, because they are payments of an owner and not of an agent (D62).
      const payment = await waitForPayment(ctx, { workspaceId, mode, id, ofAgents: true, waitMs, signal, onWait })
      const purchase = await findPurchaseOf(ctx, payment)
      return { payment: formatPayment(payment), ...(purchase === null ? {} : { purchase: formatPurchase(purchase) }) }
    },
  )

  http.get(
    '/v1/payments/:id/evidence',
    {
      onRequest: authenticate({ bucket: 'default' }),
      config: { load: 'database' },
      schema: {
        operationId: 'getPaymentEvidence',
        summary: 'Retrieve the evidence of one payment',
        description:
          'Returns a file that proves who allowed the payment: the signatures of the owner, and the leaves of the ' +
          'transparency log, with proofs. Anybody can verify it without this service. There is evidence of confirmed and ' +
          'failed payments and withdrawals, about seven minutes after the owner has signed. A credential that is bound to an ' +
          'agent gets the evidence of the payments of this agent.',
        tags: ['Payments'],
        params: PathId,
        response: { 200: Type.Ref('Evidence') },
        errors: ['not_found', 'agent_not_authorized', 'evidence_not_ready', 'evidence_unavailable'],
      },
    },
    async (request, reply) => {
      const { workspaceId, mode, agentId: boundAgentId } = callerOf(request)
      const { id } = request.params
      const file = await getEvidence(ctx, { workspaceId, mode, id, boundAgentId })
      // Bytes are sent as they are. An object would be serialized again, in another order.
      return reply.headers(evidenceHeaders(id)).send(Buffer.from(file))
    },
  )
}

function setReplayHeaders(reply: FastifyReply, payment: Payment, body: unknown): void {
  void reply.header(REPLAY_HEADER, 'true')
  const mismatches = compareRequest(payment, parseComparedRequest(body))
  if (mismatches.length > 0) void reply.header(MISMATCH_HEADER, mismatches.join(', '))
}

interface PaymentHttpRequest {
  readonly headers: FastifyRequest['headers']
  readonly body: Parameters<typeof parsePayment>[0]
  readonly validationError?: FastifyRequest['validationError']
}

/**
 * Reads the idempotency key and parses the rest of the body. If the rest is not valid, `parsed` is the error: it is not
 * thrown, because an existing payment with the same idempotency key is returned in any case (D18). Throws 400 if the
 * key is not valid or not in the body (D51).
 */
function readRequest(
  request: PaymentHttpRequest,
  usdc: Address,
): { readonly idempotencyKey: string | null; readonly parsed: ParsedPayment | Problem } {
  const idempotencyKey = parseIdempotencyKey(request.body)
  checkIdempotencyHeader(request.headers, idempotencyKey)
  if (request.validationError !== undefined) {
    return { idempotencyKey, parsed: toValidationProblem(request.validationError) }
  }
  try {
    return { idempotencyKey, parsed: parsePayment(request.body, { idempotencyKey, usdc }) }
  } catch (error) {
    if (error instanceof Problem) return { idempotencyKey, parsed: error }
    throw error
  }
}

function toPaymentRequest(caller: Caller, parsed: ParsedPayment): PaymentRequest {
  return {
    workspaceId: caller.workspaceId,
    mode: caller.mode,
    credentialId: caller.credentialId,
    boundAgentId: caller.agentId,
    requestId: caller.requestId,
    agentId: parsed.agentId,
    wallet: parsed.wallet,
    to: parsed.to,
    amountMicro: parsed.amountMicro,
    amountUsdc: parsed.amountUsdc,
    memo: parsed.memo,
    idempotencyKey: parsed.idempotencyKey,
  }
}

/** Parses the query of `GET /v1/payments/{id}` (D57). Throws 400 `validation_failed` if `wait` is not valid. */
function parsePaymentQuery(query: unknown): { readonly waitMs: number } {
  const text = typeof query === 'object' && query !== null && 'wait' in query ? query.wait : '0'
  // If the parameter was sent twice, the framework passes an array, which is not valid.
  const seconds = typeof text === 'string' && WHOLE_SECONDS.test(text) ? Number(text) : Number.NaN
  if (seconds <= PAYMENT_WAIT_SECONDS_MAX) return { waitMs: seconds * 1_000 }
  throw invalidMember('wait', `must be a whole number of seconds from 0 to ${PAYMENT_WAIT_SECONDS_MAX}`)
}
