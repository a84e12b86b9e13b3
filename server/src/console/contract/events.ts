import { Type } from 'typebox'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../../domain/events/event.ts'
import { EnvelopeSchema } from '../../domain/events/event-schema.ts'
import { list } from '../../values/schema-fields.ts'
import { DeliverySchema } from './deliveries.ts'
import { id, mode, ModeQuery, next, SlugIdParams, SlugParams } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

/** The event as webhooks receive it. `data` is shown as it was stored, so an old event may have an older format. */
const EventEnvelopeSchema = Type.Object({
  ...EnvelopeSchema.properties,
  data: Type.Record(Type.String(), Type.Unknown()),
})

const EventPageSchema = Type.Object({ events: list(EventEnvelopeSchema), next })

/** An event and its deliveries. `body` is the event as JSON, byte for byte as webhooks receive it. */
const EventDetailSchema = Type.Object({
  body: Type.String(),
  event: EventEnvelopeSchema,
  deliveries: list(DeliverySchema),
})

export type EventEnvelope = Shape<typeof EventEnvelopeSchema>
export type EventPage = Shape<typeof EventPageSchema>
export type EventDetail = Shape<typeof EventDetailSchema>

export const EVENT_ROUTES = {
  /** Lists the events, the newest first. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/events',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({
        mode,
        type: Type.Optional(Type.Enum([...EVENT_TYPES, TEST_EVENT_TYPE])),
        before: Type.Optional(id),
      }),
      response: { 200: EventPageSchema },
    },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/events/:id',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, querystring: ModeQuery, response: { 200: EventDetailSchema } },
  },
} as const satisfies ConsoleRoutes
