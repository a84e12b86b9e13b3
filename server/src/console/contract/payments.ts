import { Type, type Static } from 'typebox'
import { PaymentSchema as PublicPaymentSchema } from '../../domain/payments/payment-schema.ts'
import { FAILURE_CODES, PAYMENT_KINDS, PAYMENT_STATUSES, PENDING_REASONS } from '../../domain/payments/payment.ts'
import { PAYMENT_SORTS } from '../../domain/reports/listing/payment-order.ts'
import { PurchaseSummarySchema } from '../../domain/purchases/purchase-summary.ts'
import { PurchaseSchema } from '../../domain/purchases/purchase-schema.ts'
import { URL_CHARS_MAX } from '../../values/limits.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { DeliverySchema } from './deliveries.ts'
import {
  AGENT_ID_CHARS_MAX,
  Empty,
  mode,
  ModeQuery,
  next,
  SlugIdParams,
  SlugParams,
  TIME_CHARS_MAX,
  timeZone,
} from './fields.ts'
import { GrantSchema } from './grants.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const ADDRESS_CHARS_MAX = 64
const ID_CHARS_MAX = 64
/** The longest search text. A memo has at most 200 code points, and each may take two characters in JavaScript. */
const SEARCH_CHARS_MAX = 400

/**
 * The same fields as a payment in `/v1`, and why it is still pending. Members also see withdrawals, which `/v1` does
 * not show.
 */
export const PaymentSchema = Type.Object({
  ...PublicPaymentSchema.properties,
  /** A `transfer` was requested by an agent. A `withdrawal` was signed by an owner of the wallet. */
  kind: Type.Enum([...PAYMENT_KINDS]),
  /** Null for a withdrawal, and only then. */
  agent_id: orNull(Type.String()),
  /** Null for a withdrawal, and only then. */
  grant_id: orNull(Type.String()),
  /** Why the payment is still pending, if something is wrong that a person should look into. Otherwise null. */
  pending_reason: orNull(Type.Enum([...PENDING_REASONS])),
})

/** A payment in a list, with what it buys. `purchase` is null if the payment is no purchase. */
export const ListedPaymentSchema = Type.Object({
  ...PaymentSchema.properties,
  purchase: orNull(PurchaseSummarySchema),
})

/**
 * The credential that requested the payment: an API key with its name, or a connection with the name that its client
 * gave itself.
 */
export const CredentialSchema = Type.Object({
  kind: Type.Enum(['key', 'connection']),
  id: Type.String(),
  name: orNull(Type.String()),
})

const PaymentEventSchema = Type.Object({
  id: Type.String(),
  type: Type.String(),
  created_at: isoTime(),
  deliveries: list(Type.Object({ ...DeliverySchema.properties, url: Type.String() })),
})

/** What people wrote about a payment. Agents cannot read it. */
const PaymentNoteSchema = Type.Object({
  note: orNull(Type.String()),
  category: orNull(Type.String()),
  link: orNull(Type.String()),
})

const PaymentDetailSchema = Type.Object({
  payment: Type.Object({
    ...PaymentSchema.properties,
    mode,
    /** When the enclave accepted the payment. */
    accepted_at: orNull(isoTime()),
    /** When the payment was confirmed, or failed. */
    settled_at: orNull(isoTime()),
    block_number: orNull(Type.Integer()),
    /** Null for a withdrawal. */
    credential: orNull(CredentialSchema),
    /** The owner who signed a withdrawal. Null for other payments, or if the person is not known. */
    signed_by: orNull(Type.Object({ name: Type.String(), former: Type.Boolean() })),
    /**
     * The limits under which the payment was admitted, and what the agent had spent in the 24 hours before. Null for
     * a withdrawal.
     */
    limits: orNull(
      Type.Object({
        max_per_tx_usdc: Type.String(),
        daily_cap_usdc: Type.String(),
        spent_24h_usdc: Type.String(),
      }),
    ),
  }),
  /** Who marked an undelivered purchase as resolved, and why. Null if nobody did. */
  resolution: orNull(Type.Object({ at: isoTime(), by: orNull(Type.String()), note: Type.String() })),
  /** What the payment buys, with the delivery. Null if the payment is no purchase. */
  purchase: orNull(Type.Object({ ...PurchaseSchema.properties, attempts: Type.Integer() })),
  note: PaymentNoteSchema,
  /** The grant under which the payment was made. Null for a withdrawal. */
  grant: orNull(GrantSchema),
  /** The payment's events, the oldest first, and where each was sent. A withdrawal has no events. */
  events: list(PaymentEventSchema),
})

export const agent = Type.Optional(Type.String({ minLength: 1, maxLength: AGENT_ID_CHARS_MAX }))
export const before = Type.Optional(Type.String({ maxLength: ID_CHARS_MAX }))
/** The parsers have the exact limits. A character outside the basic plane counts twice here. */
const noteText = Type.String({ maxLength: 2 * URL_CHARS_MAX })
const time = Type.Optional(Type.String({ maxLength: TIME_CHARS_MAX }))

const AMOUNT_CHARS_MAX = 32

/** The conditions that payments and rejected requests share. */
export const sharedFilter = {
  agent,
  wallet: Type.Optional(Type.String({ maxLength: ADDRESS_CHARS_MAX })),
  recipient: Type.Optional(Type.String({ maxLength: ADDRESS_CHARS_MAX })),
  /** The lowest and the highest amount in USDC. */
  min: Type.Optional(Type.String({ maxLength: AMOUNT_CHARS_MAX })),
  max: Type.Optional(Type.String({ maxLength: AMOUNT_CHARS_MAX })),
  /**
   * An id, the name or address of a recipient, a hash, an amount such as `>100`, an idempotency key, or part of a memo,
   * an agent's id or a website, and for payments of a note or a category. Addresses and hashes may be shortened.
   */
  q: Type.Optional(Type.String({ maxLength: SEARCH_CHARS_MAX })),
  /** Created at this time or later, and before `to`. */
  from: time,
  to: time,
}

const filter = {
  ...sharedFilter,
  status: Type.Optional(Type.Enum([...PAYMENT_STATUSES])),
  /** Why the payment failed. */
  reason: Type.Optional(Type.Enum([...FAILURE_CODES])),
  /** `undelivered`: the purchases that were paid, not delivered, and not marked as resolved. */
  kind: Type.Optional(Type.Enum([...PAYMENT_KINDS, 'undelivered'])),
}
const sort = Type.Optional(Type.Enum([...PAYMENT_SORTS]))
const FilterSchema = Type.Object(filter)
const FilterQuery = Type.Object({ mode, ...filter })
/** The times of the file are in `time_zone`, or in UTC. */
const ExportQuery = Type.Object({ mode, ...filter, time_zone: Type.Optional(timeZone) })

/** Counts and sums of the payments of a list. */
const SumsSchema = Type.Object({
  confirmed: Type.Integer(),
  confirmed_usdc: Type.String(),
  pending: Type.Integer(),
  pending_usdc: Type.String(),
  failed: Type.Integer(),
  /** The list is too long: the sums are those of the payments that were created at this time or later. */
  since: orNull(isoTime()),
})

export type Payment = Shape<typeof PaymentSchema>
export type ListedPayment = Shape<typeof ListedPaymentSchema>
export type PaymentDetail = Shape<typeof PaymentDetailSchema>
export type PaymentNote = Shape<typeof PaymentNoteSchema>
export type PaymentEvent = Shape<typeof PaymentEventSchema>
export type Credential = Shape<typeof CredentialSchema>
export type PaymentFilter = Shape<typeof FilterSchema>
export type PaymentSort = NonNullable<Static<typeof sort>>
export type PaymentSums = Shape<typeof SumsSchema>
export type PaymentStatus = Payment['status']

export const PAYMENT_ROUTES = {
  /**
   * Lists the payments, by default the newest first. `further` has payments that the search found by an index, in the
   * part of the list that this page did not reach.
   */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/payments',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode, ...filter, sort, before }),
      response: {
        200: Type.Object({ payments: list(ListedPaymentSchema), further: list(ListedPaymentSchema), next }),
      },
    },
  },
  /** Returns counts and sums of the payments that the list with this filter has. */
  sums: {
    method: 'GET',
    url: '/console/workspaces/:slug/payments/sums',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: FilterQuery,
      response: { 200: Type.Object({ sums: SumsSchema }) },
    },
  },
  /** Returns payments as a stream of CSV, the newest first. An export of more than 100,000 rows is rejected. */
  export: {
    method: 'GET',
    url: '/console/workspaces/:slug/payments/export',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, querystring: ExportQuery },
  },
  /**
   * Returns the evidence of payments as a stream of lines of JSON (D81), the newest payment first. The limits are those
   * of `export`.
   */
  exportEvidence: {
    method: 'GET',
    url: '/console/workspaces/:slug/payments/evidence',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, querystring: ExportQuery },
  },
  /** Returns the file that proves who allowed a payment (D81). */
  evidence: {
    method: 'GET',
    url: '/console/workspaces/:slug/payments/:id/evidence',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, querystring: ModeQuery },
  },
  /** Marks a purchase that was paid and not delivered as resolved. */
  resolve: {
    method: 'POST',
    url: '/console/workspaces/:slug/payments/:id/resolve',
    config: { needs: 'resolvePurchases', proof: { notNeeded: 'moves no money' }, bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      body: Type.Object({ mode, note: Type.String({ maxLength: SEARCH_CHARS_MAX }) }),
      response: { 200: Empty },
    },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/payments/:id',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, querystring: ModeQuery, response: { 200: PaymentDetailSchema } },
  },
  /** Replaces what people wrote about a payment. An empty text removes it. */
  annotate: {
    method: 'PATCH',
    url: '/console/workspaces/:slug/payments/:id/note',
    config: {
      needs: 'annotatePayments',
      proof: { notNeeded: 'only writes for the books of the workspace' },
      bucket: 'dashboard',
    },
    schema: {
      params: SlugIdParams,
      body: Type.Object({ mode, note: noteText, category: noteText, link: noteText }),
      response: { 200: Type.Object({ note: PaymentNoteSchema }) },
    },
  },
} as const satisfies ConsoleRoutes
