import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import { createPayment } from '../../domain/payments/create-payment.ts'
import { formatPayment } from '../../domain/payments/format-payment.ts'
import { PaymentSchema } from '../../domain/payments/payment-schema.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import { refreshPayment } from '../../domain/payments/refresh-payment.ts'
import { replayPayment } from '../../domain/payments/replay-payment.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { toValidationProblem } from '../../http/to-problem.ts'
import { Problem, problem } from '../../values/problem.ts'
import { callerOf, type Caller } from '../caller.ts'
import { checkIdempotencyHeader, parseIdempotencyKey, parsePayment } from '../parse-payment.ts'
import { CreatePaymentBody, errorResponses, IdParams } from '../schemas.ts'
import type { Authenticate } from './agents.ts'

const PaymentAnswer = Type.Object({ payment: Type.Ref('Payment') }, { description: 'The payment as it stands.' })
/** Tells the caller that the response is an earlier payment, found by its idempotency key (D21). */
const REPLAY_HEADER = 'Idempotent-Replayed'

export function addPaymentRoutes(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  http.addSchema(PaymentSchema)

  http.post(
    '/v1/payments',
    {
      onRequest: authenticate({ bucket: 'payments', scope: 'wallet:transfer' }),
      // A known idempotency key is answered before the body is judged (D18), so the handler judges it.
      attachValidation: true,
      schema: {
        operationId: 'createPayment',
        summary: 'Sign and broadcast a USDC transfer',
        description:
          'Answered as soon as the enclave accepts the signed request; the on-chain receipt follows. A refusal of the ' +
          'pre-check is a 4xx and leaves no record; a refusal of the enclave is a payment with status failed. The same ' +
          'idempotency_key never pays twice, and its record comes back with the header Idempotent-Replayed: true. An OAuth ' +
          'token needs the scope wallet:transfer, and pays as the agent of its connection alone.',
        tags: ['Payments'],
        body: CreatePaymentBody,
        response: { 201: PaymentAnswer, ...errorResponses(400, 401, 403, 404, 413, 415, 429, 500, 503) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const idempotencyKey = parseIdempotencyKey(request.body)
      checkIdempotencyHeader(request.headers, idempotencyKey)
      const parsed = parseBody(request, { caller, idempotencyKey, usdc: ctx.chains[caller.mode].usdc })
      if (parsed instanceof Problem) {
        const replayed = await replay(ctx, caller, idempotencyKey)
        if (replayed === null) throw parsed
        return reply
          .code(201)
          .header(REPLAY_HEADER, 'true')
          .send({ payment: formatPayment(replayed) })
      }
      const outcome = await createPayment(ctx, { ...caller, ...parsed, boundTo: caller.agentId })
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
          'A pending payment with a tx_hash is refreshed from the chain first. Poll at most once every 2 seconds.',
        tags: ['Payments'],
        params: IdParams,
        response: { 200: PaymentAnswer, ...errorResponses(401, 404, 429, 500, 503) },
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

/** A connection pays as its own agent (D25): a body that names another one is refused like one that does not parse. */
function parseBody(
  request: PaymentHttpRequest,
  { caller, ...given }: Parameters<typeof parsePayment>[1] & { readonly caller: Caller },
) {
  if (request.validationError !== undefined) return toValidationProblem(request.validationError)
  try {
    const parsed = parsePayment(request.body, given)
    const isForeign = caller.agentId !== null && caller.agentId !== parsed.agentId
    return isForeign ? problem('agent_not_authorized') : parsed
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

async function replay(ctx: Context, caller: Caller, idempotencyKey: string | null): Promise<Payment | null> {
  if (idempotencyKey === null) return null
  const { accountId, mode, agentId: boundTo } = caller
  return await replayPayment(ctx, { accountId, mode, idempotencyKey, boundTo })
}
