import { Type } from 'typebox'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { mode, ModeQuery, next, SlugIdParams, SlugParams } from './fields.ts'
import { agent, before, CredentialSchema } from './payments.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

/** A request that a limit rejected before anything was reserved. It is not a payment. */
const RefusalSchema = Type.Object({
  id: Type.String(),
  mode,
  /** The code of the error response, such as `daily_cap_exceeded`. */
  code: Type.String(),
  message: Type.String(),
  /** The `details` of the error response: the limit, and how much of it was used at that time. */
  details: Type.Record(Type.String(), Type.Unknown()),
  agent_id: Type.String(),
  wallet: Type.String(),
  to: Type.String(),
  amount_usdc: Type.String(),
  memo: orNull(Type.String()),
  idempotency_key: orNull(Type.String()),
  /** The URL of the resource to be bought, without its query. Null if the request was no purchase. */
  resource_url: orNull(Type.String()),
  credential: orNull(CredentialSchema),
  created_at: isoTime(),
})

export type RefusedRequest = Shape<typeof RefusalSchema>

export const REFUSAL_ROUTES = {
  /** Lists the rejected requests of the last 30 days, the newest first. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/refusals',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode, agent, before }),
      response: { 200: Type.Object({ refusals: list(RefusalSchema), next }) },
    },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/refusals/:id',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ refusal: RefusalSchema }) },
    },
  },
} as const satisfies ConsoleRoutes
