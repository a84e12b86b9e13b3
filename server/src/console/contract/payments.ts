import { Type } from 'typebox'
import { PaymentSchema as PublicPaymentSchema } from '../../domain/payments/payment-schema.ts'
import { FAILURE_CODES, PAYMENT_STATUSES, PENDING_REASONS } from '../../domain/payments/payment.ts'
import { isoTime, list, nullable } from '../../values/schema-fields.ts'
import { DeliverySchema } from './deliveries.ts'
import { AGENT_ID_CHARS_MAX, mode, ModeQuery, next, SlugIdParams, SlugParams, TIME_CHARS_MAX } from './fields.ts'
import { GrantSchema } from './grants.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const ADDRESS_CHARS_MAX = 64
const ID_CHARS_MAX = 64
/** A memo has 200 code points, each of which may be two of JavaScript's characters. */
const SEARCH_CHARS_MAX = 400

/** The payment of `/v1`, with what its owner may know beside it. */
export const PaymentSchema = Type.Object({
  ...PublicPaymentSchema.properties,
  agent_id: Type.String(),
  grant_id: Type.String(),
  /** Why it failed. */
  failure_code: nullable(Type.Enum([...FAILURE_CODES])),
  /** Why it is still pending, if someone should look into it. */
  pending_reason: nullable(Type.Enum([...PENDING_REASONS])),
})

/** Which credential asked: an API key, by its name, or a connection, by what its client calls itself. */
export const CredentialSchema = Type.Object({
  kind: Type.Enum(['key', 'connection']),
  id: Type.String(),
  name: nullable(Type.String()),
})

const PaymentEventSchema = Type.Object({
  id: Type.String(),
  type: Type.String(),
  created_at: isoTime(),
  deliveries: list(Type.Object({ ...DeliverySchema.properties, url: Type.String() })),
})

const PaymentDetailSchema = Type.Object({
  payment: Type.Object({
    ...PaymentSchema.properties,
    mode,
    /** When the enclave accepted it. */
    accepted_at: nullable(isoTime()),
    /** When it was confirmed, or failed. */
    settled_at: nullable(isoTime()),
    block_number: nullable(Type.Integer()),
    /** Null for payments from before this was stored. */
    credential: nullable(CredentialSchema),
    /** The limits that it was admitted under, and what the agent had spent in the 24 hours before. */
    limits: Type.Object({
      max_per_tx_usdc: Type.String(),
      daily_cap_usdc: Type.String(),
      spent_24h_usdc: Type.String(),
    }),
  }),
  /** The grant that it was made under. */
  grant: GrantSchema,
  /** Its events, the oldest first, and where each was sent. */
  events: list(PaymentEventSchema),
})

export const agent = Type.Optional(Type.String({ minLength: 1, maxLength: AGENT_ID_CHARS_MAX }))
export const before = Type.Optional(Type.String({ maxLength: ID_CHARS_MAX }))
const time = Type.Optional(Type.String({ maxLength: TIME_CHARS_MAX }))

const filter = {
  agent,
  wallet: Type.Optional(Type.String({ maxLength: ADDRESS_CHARS_MAX })),
  status: Type.Optional(Type.Enum([...PAYMENT_STATUSES])),
  /** A payment's id, a transaction's hash, an address, an idempotency key, or part of a memo. */
  q: Type.Optional(Type.String({ maxLength: SEARCH_CHARS_MAX })),
  /** Payments created at this time or later, and before `to`. */
  from: time,
  to: time,
}
const FilterSchema = Type.Object(filter)
const ExportQuery = Type.Object({ mode, ...filter })

export type Payment = Shape<typeof PaymentSchema>
export type PaymentDetail = Shape<typeof PaymentDetailSchema>
export type PaymentEvent = Shape<typeof PaymentEventSchema>
export type Credential = Shape<typeof CredentialSchema>
export type PaymentFilter = Shape<typeof FilterSchema>
export type PaymentStatus = Payment['status']

export const PAYMENT_ROUTES = {
  /** The newest first. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/payments',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode, ...filter, before }),
      response: { 200: Type.Object({ payments: list(PaymentSchema), next }) },
    },
  },
  /** A stream of CSV, the newest first. More than 100,000 rows are refused. */
  export: {
    method: 'GET',
    url: '/console/workspaces/:slug/payments/export',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, querystring: ExportQuery },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/payments/:id',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, querystring: ModeQuery, response: { 200: PaymentDetailSchema } },
  },
} as const satisfies ConsoleRoutes
