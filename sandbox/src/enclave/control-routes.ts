import type { FastifyInstance } from 'fastify'
import type { EnclaveContext } from './context.ts'
import { getChain } from './context.ts'
import { equalSecrets } from './credentials.ts'
import { ApiError } from './errors.ts'
import type { Fault } from './faults.ts'
import { FAULTS_MAX } from './limits.ts'

const count = { type: 'integer', minimum: 1, maximum: FAULTS_MAX } as const

const faultSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['fault', 'count'],
  properties: { fault: { enum: ['reject', 'unavailable', 'timeout', 'lost_response'] }, count },
} as const

const failTransfersSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['caip2', 'count'],
  properties: { caip2: { type: 'string' }, count },
} as const

/** The sandbox's own endpoints, no part of the provider's API: they demand the header `x-enclave-control` with the control token. */
export function registerControlRoutes(app: FastifyInstance, context: EnclaveContext, controlToken: string): void {
  app.addHook('onRequest', async (request) => {
    const token = request.headers['x-enclave-control']
    if (typeof token !== 'string' || !equalSecrets(token, controlToken)) {
      throw new ApiError(401, 'Invalid control token')
    }
  })
  app.get('/health', () => ({
    ready: true,
    now: context.clock.nowMs(),
    faults: context.faults.count(),
  }))
  app.post<{ Body: { fault: Fault; count: number } }>('/faults', { schema: { body: faultSchema } }, (request) => {
    context.faults.order(request.body.fault, request.body.count)
    return {}
  })
  app.post<{ Body: { caip2: string; count: number } }>(
    '/fail-transfers',
    { schema: { body: failTransfersSchema } },
    (request) => {
      getChain(context, request.body.caip2)
      context.faults.orderFailingTransfers(request.body.caip2, request.body.count)
      return {}
    },
  )
}
