import { Type } from 'typebox'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../../domain/events/event.ts'
import { ATTEMPT_ERRORS, DELIVERY_STATUSES, DELIVERY_TRIGGERS } from '../../domain/webhooks/delivery.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { EmptyBody, id, mode, next, SlugIdParams, SlugParams, time } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const eventType = Type.Enum([...EVENT_TYPES, TEST_EVENT_TYPE])

export const DeliverySchema = Type.Object({
  id: Type.String(),
  mode,
  webhook_id: Type.String(),
  event_id: Type.String(),
  event_type: eventType,
  trigger: Type.Enum([...DELIVERY_TRIGGERS]),
  status: Type.Enum([...DELIVERY_STATUSES]),
  attempt_count: Type.Integer(),
  next_attempt_at: orNull(isoTime()),
  created_at: isoTime(),
  finished_at: orNull(isoTime()),
})

const DeliveryAttemptSchema = Type.Object({
  number: Type.Integer(),
  at: isoTime(),
  status_code: orNull(Type.Integer()),
  error: orNull(Type.Enum([...ATTEMPT_ERRORS])),
  duration_ms: Type.Integer(),
  response_body: orNull(Type.String()),
})

/** A delivery in the log, with the result of its last attempt and the payment that the event is about. */
const ListedDeliverySchema = Type.Object({
  ...DeliverySchema.properties,
  /** Null before the first attempt. */
  last_attempt: orNull(
    Type.Object({ status_code: orNull(Type.Integer()), error: orNull(Type.Enum([...ATTEMPT_ERRORS])) }),
  ),
  /** Null if the event is about something else, or is older than 30 days. */
  payment: orNull(Type.Object({ id: Type.String(), amount_usdc: Type.String() })),
})

const DeliveryPageSchema = Type.Object({ deliveries: list(ListedDeliverySchema), next })

/**
 * A delivery and its attempts. `body` is the body of the webhook request, byte for byte; null if the event is older
 * than 30 days.
 */
const DeliveryDetailSchema = Type.Object({
  delivery: DeliverySchema,
  attempts: list(DeliveryAttemptSchema),
  body: orNull(Type.String()),
})

const DeliveriesQuery = Type.Object({
  mode,
  webhook: Type.Optional(id),
  type: Type.Optional(eventType),
  status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
  event: Type.Optional(id),
  from: Type.Optional(time),
  to: Type.Optional(time),
  before: Type.Optional(id),
})

export type Delivery = Shape<typeof DeliverySchema>
export type ListedDelivery = Shape<typeof ListedDeliverySchema>
export type DeliveryAttempt = Shape<typeof DeliveryAttemptSchema>
export type DeliveryDetail = Shape<typeof DeliveryDetailSchema>
export type DeliveryQuery = Shape<typeof DeliveriesQuery>

export const DELIVERY_ROUTES = {
  /** Lists the deliveries, the newest first. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/deliveries',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, querystring: DeliveriesQuery, response: { 200: DeliveryPageSchema } },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/deliveries/:id',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, response: { 200: DeliveryDetailSchema } },
  },
  /** Sends the event again to the same webhook endpoint, as a new delivery. */
  replay: {
    method: 'POST',
    url: '/console/workspaces/:slug/deliveries/:id/replay',
    config: {
      needs: 'manageWebhooks',
      proof: { notNeeded: 'sends to the address that the owner chose' },
      bucket: 'dashboard',
    },
    schema: { params: SlugIdParams, body: EmptyBody, response: { 201: Type.Object({ delivery: DeliverySchema }) } },
  },
} as const satisfies ConsoleRoutes
