import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import { createPayment } from '../../domain/payments/create-payment.ts'
import { formatPayment } from '../../domain/payments/format-payment.ts'
import type { PaymentRequest } from '../../domain/payments/payment-request.ts'
import { PaymentSchema } from '../../domain/payments/payment-schema.ts'
import { refreshPayment } from '../../domain/payments/refresh-payment.ts'
import { replayPayment } from '../../domain/payments/replay-payment.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { toValidationProblem } from '../../http/to-problem.ts'
import type { Address } from '../../values/address.ts'
import { Problem, problem } from '../../values/problem.ts'
import { callerOf, type Caller } from '../caller.ts'
import { checkIdempotencyHeader, parseIdempotencyKey, parsePayment, type ParsedPayment } from '../parse-payment.ts'
import { CreatePaymentBody, errorResponses, IdParams } from '../schemas.ts'
import type { Authenticate } from './agents.ts'

const PaymentResponse = Type.Object(
  { payment: Type.Ref('Payment') },
  { description: 'The payment in its current state.' },
)
/** Tells the caller that the payment existed already, under the same idempotency key (D21). */
const REPLAY_HEADER = 'Idempotent-Replayed'

export function addPaymentRoutes(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  http.addSchema(PaymentSchema)

  http.post(
    '/v1/payments',
    {
      onRequest: authenticate({ bucket: 'payments', scope: 'wallet:transfer' }),
      // A known idempotency key comes before the validation of the body (D18), so the handler validates it.
      attachValidation: true,
      schema: {
        operationId: 'createPayment',
        summary: 'Sign and broadcast a USDC transfer',
        description:
          'Responds as soon as the enclave has accepted the signed request; the on-chain receipt follows. If a limit refuses ' +
          'the payment, the response is a 4xx and no payment is created; if the enclave refuses it, the payment has the ' +
          'status failed. The same idempotency_key never pays twice: the existing payment is returned with the header ' +
          'Idempotent-Replayed: true. An OAuth token requires the scope wallet:transfer, and can pay only as the agent of ' +
          'its connection.',
        tags: ['Payments'],
        body: CreatePaymentBody,
        response: { 201: PaymentResponse, ...errorResponses(400, 401, 403, 404, 413, 415, 429, 500, 503) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const idempotencyKey = parseIdempotencyKey(request.body)
      checkIdempotencyHeader(request.headers, idempotencyKey)
      const parsed = parseBody(request, { idempotencyKey, usdc: ctx.chains[caller.mode].usdc })
      if (parsed instanceof Problem) {
        const { accountId, mode, agentId: boundAgentId } = caller
        const replayed = await replayPayment(ctx, { accountId, mode, idempotencyKey, boundAgentId })
        if (replayed === null) throw parsed
        return reply
          .code(201)
          .header(REPLAY_HEADER, 'true')
          .send({ payment: formatPayment(replayed) })
      }
      const outcome = await createPayment(ctx, toPaymentRequest(caller, parsed))
      if (outcome.kind === 'refused') throw problem(outcome.refusal.code, { details: outcome.refusal.details })
      if (outcome.kind === 'replayed') void reply.header(REPLAY_HEADER, 'true')
      return reply.code(201).send({ payment: formatPayment(outcome.payment) })
    },
  )

  http.get(
    '/v1/payments/:id',
    {
      onRequest: authenticate({ bucket: 'default' }),
      schema: {
        operationId: 'getPayment',
        summary: 'Retrieve one payment',
        description:
          'A pending payment with a tx_hash is first updated from the chain. Poll at most once every 2 seconds.',
        tags: ['Payments'],
        params: IdParams,
        response: { 200: PaymentResponse, ...errorResponses(401, 404, 429, 500, 503) },
      },
    },
    async (request) => {
      const { accountId, mode } = callerOf(request)
      return { payment: formatPayment(await refreshPayment(ctx, { accountId, mode, id: request.params.id })) }
    },
  )
}

interface PaymentHttpRequest {
  readonly body: Parameters<typeof parsePayment>[0]
  readonly validationError?: FastifyRequest['validationError']
}

/** Parses the body. Returns what is wrong with it instead of throwing, because a known idempotency key comes first. */
function parseBody(
  request: PaymentHttpRequest,
  options: { readonly idempotencyKey: string | null; readonly usdc: Address },
): ParsedPayment | Problem {
  if (request.validationError !== undefined) return toValidationProblem(request.validationError)
  try {
    return parsePayment(request.body, options)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

function toPaymentRequest(caller: Caller, parsed: ParsedPayment): PaymentRequest {
  return {
    accountId: caller.accountId,
    mode: caller.mode,
    credentialId: caller.credentialId,
    boundAgentId: caller.agentId,
    agentId: parsed.agentId,
    wallet: parsed.wallet,
    to: parsed.to,
    amountMicro: parsed.amountMicro,
    amountUsdc: parsed.amountUsdc,
    memo: parsed.memo,
    idempotencyKey: parsed.idempotencyKey,
  }
}
