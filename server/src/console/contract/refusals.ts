import { Type } from 'typebox'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { mode, ModeQuery, next, SlugIdParams, SlugParams, timeZone } from './fields.ts'
import { before, CredentialSchema, sharedFilter } from './payments.ts'
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

/** A rejected request in a list, which may stand for several identical ones. It is the newest of them. */
const ListedRefusalSchema = Type.Object({
  ...RefusalSchema.properties,
  /** How many identical requests were rejected: 1 if they are not grouped. */
  times: Type.Integer(),
  /** When the first of them was rejected. */
  first_at: isoTime(),
})

/** Far above the length of any code. A code that does not exist matches nothing. */
const CODE_CHARS_MAX = 64

const rowFilter = {
  ...sharedFilter,
  /** The code of the error response. */
  reason: Type.Optional(Type.String({ maxLength: CODE_CHARS_MAX })),
}
const filter = {
  ...rowFilter,
  /** `none`: every rejected request is listed. By default, identical requests are listed once. */
  group: Type.Optional(Type.Enum(['none'])),
}
const FilterSchema = Type.Object(filter)

export type RefusedRequest = Shape<typeof RefusalSchema>
export type ListedRefusal = Shape<typeof ListedRefusalSchema>
export type RefusalFilter = Shape<typeof FilterSchema>

export const REFUSAL_ROUTES = {
  /** Lists the rejected requests of the last 30 days, the newest first. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/refusals',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode, ...filter, before }),
      response: { 200: Type.Object({ refusals: list(ListedRefusalSchema), next }) },
    },
  },
  /** Returns every rejected request that matches as a stream of CSV, the newest first. Identical ones are not grouped. */
  export: {
    method: 'GET',
    url: '/console/workspaces/:slug/refusals/export',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode, ...rowFilter, time_zone: Type.Optional(timeZone) }),
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
