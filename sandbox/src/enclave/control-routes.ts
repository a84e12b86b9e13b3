import type { FastifyInstance } from 'fastify'
import type { EnclaveContext } from './context.ts'
import { getChain } from './context.ts'
import { equalSecrets } from './credentials.ts'
import { ApiError } from './errors.ts'
import { FAULTS, SEND_FAULTS } from './faults.ts'
import type { Fault, SendFault } from './faults.ts'
import { CLOCK_SKEW_MS_MAX, FAULTS_MAX } from './limits.ts'
import { PROFILES } from './pace.ts'
import type { Profile } from './pace.ts'
import { REPEATED_REFERENCES } from './references.ts'
import type { RepeatedReference } from './references.ts'

type FaultOrder =
  | { readonly fault: Fault; readonly count: number }
  | {
      readonly fault: 'random'
      readonly share: number
      readonly seed: number
      readonly faults?: readonly SendFault[]
    }
  | { readonly fault: 'none' }

const count = { type: 'integer', minimum: 1, maximum: FAULTS_MAX } as const

const faultSchema = {
  oneOf: [
    closed({ fault: { enum: FAULTS }, count }, ['fault', 'count']),
    closed(
      {
        fault: { const: 'random' },
        share: { type: 'number', minimum: 0, maximum: 1 },
        seed: { type: 'integer', minimum: 0, maximum: 0xff_ff_ff_ff },
        faults: { type: 'array', minItems: 1, maxItems: SEND_FAULTS.length, items: { enum: SEND_FAULTS } },
      },
      ['fault', 'share', 'seed'],
    ),
    closed({ fault: { const: 'none' } }, ['fault']),
  ],
} as const

const failTransfersSchema = closed({ caip2: { type: 'string' }, count }, ['caip2', 'count'])
const clockSchema = closed({ skew_ms: { type: 'integer', minimum: -CLOCK_SKEW_MS_MAX, maximum: CLOCK_SKEW_MS_MAX } }, [
  'skew_ms',
])
const profileSchema = closed({ profile: { enum: PROFILES } }, ['profile'])
const referencesSchema = closed({ repeated: { enum: REPEATED_REFERENCES } }, ['repeated'])

/**
 * Adds the sandbox's own endpoints, which the provider's API does not have. A caller must send the control token in the
 * header `x-enclave-control`.
 */
export function registerControlRoutes(app: FastifyInstance, context: EnclaveContext, controlToken: string): void {
  const { clock, faults, pace, references, store } = context
  app.addHook('onRequest', async (request) => {
    const token = request.headers['x-enclave-control']
    if (typeof token !== 'string' || !equalSecrets(token, controlToken)) {
      throw new ApiError(401, 'Invalid control token')
    }
  })
  app.get('/health', () => ({ ready: true, now: clock.nowMs(), faults: faults.count() }))
  app.post<{ Body: FaultOrder }>('/faults', { schema: { body: faultSchema } }, ({ body }) => {
    if (body.fault === 'none') faults.clear()
    else if (body.fault === 'random') faults.orderRandom({ ...body, faults: body.faults ?? SEND_FAULTS })
    else faults.order(body.fault, body.count)
    return {}
  })
  app.get('/faults', () => ({ met: faults.countMet() }))
  app.post<{ Body: { caip2: string; count: number } }>(
    '/fail-transfers',
    { schema: { body: failTransfersSchema } },
    ({ body }) => {
      getChain(context, body.caip2)
      faults.orderFailingTransfers(body.caip2, body.count)
      return {}
    },
  )
  app.post<{ Body: { skew_ms: number } }>('/clock', { schema: { body: clockSchema } }, ({ body }) => {
    clock.setSkew(body.skew_ms)
    return { now: clock.nowMs() }
  })
  app.post<{ Body: { profile: Profile } }>('/profile', { schema: { body: profileSchema } }, ({ body }) => {
    pace.choose(body.profile)
    return {}
  })
  app.post<{ Body: { repeated: RepeatedReference } }>(
    '/references',
    { schema: { body: referencesSchema } },
    ({ body }) => {
      references.choose(body.repeated)
      return {}
    },
  )
  app.post('/forget-answers', { schema: { body: closed({}, []) } }, () => {
    store.forgetAnswers()
    return {}
  })
}

/** Returns the schema of an object that may have only these members. */
function closed<P>(properties: P, required: readonly string[]) {
  return { type: 'object', additionalProperties: false, properties, required } as const
}
