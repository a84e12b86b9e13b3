import { Type } from 'typebox'
import { EVENT_TYPES } from '../../domain/events/event.ts'
import { DISABLED_CAUSES } from '../../domain/webhooks/endpoint.ts'
import { URL_CHARS_MAX } from '../../values/limits.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { DeliverySchema } from './deliveries.ts'
import { Empty, EmptyBody, mode, ModeQuery, SlugIdParams, SlugParams, time } from './fields.ts'
import { ENDS_POWER, READS, type ConsoleRoutes, type Shape } from './route.ts'

const WebhookSchema = Type.Object({
  id: Type.String(),
  mode,
  url: Type.String(),
  events: list(Type.Enum([...EVENT_TYPES])),
  status: Type.Enum(['enabled', 'disabled']),
  disabled_because: orNull(Type.Enum([...DISABLED_CAUSES])),
  failing_since: orNull(isoTime()),
  created_at: isoTime(),
})

/** A webhook endpoint with its new signing secret. Only this response contains the secret. */
const IssuedWebhookSchema = Type.Object({ ...WebhookSchema.properties, secret: Type.String() })

const url = Type.String({ minLength: 1, maxLength: URL_CHARS_MAX })
const events = Type.Immutable(
  Type.Array(Type.Enum([...EVENT_TYPES]), { minItems: 1, maxItems: EVENT_TYPES.length, uniqueItems: true }),
)
const ReplayBody = Type.Object({ from: time, to: time, only: Type.Enum(['failed', 'all']) })

export type Webhook = Shape<typeof WebhookSchema>
export type IssuedWebhook = Shape<typeof IssuedWebhookSchema>
export type WebhookTerms = Pick<Webhook, 'url' | 'events'>

const webhookAnswer = Type.Object({ webhook: WebhookSchema })
const issuedAnswer = Type.Object({ webhook: IssuedWebhookSchema })
const THE_URL_STAYS = { notNeeded: 'sends to the address that the owner chose' } as const

export const WEBHOOK_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/webhooks',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ webhooks: list(WebhookSchema) }) },
    },
  },
  create: {
    method: 'POST',
    url: '/console/workspaces/:slug/webhooks',
    config: { needs: 'manageWebhooks', proof: 'required', bucket: 'dashboard' },
    schema: { params: SlugParams, body: Type.Object({ mode, url, events }), response: { 201: issuedAnswer } },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/webhooks/:id',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, response: { 200: webhookAnswer } },
  },
  change: {
    method: 'PATCH',
    url: '/console/workspaces/:slug/webhooks/:id',
    // Requires a passkey proof if the URL changes, because the events would then be sent to another server.
    config: { needs: 'manageWebhooks', proof: 'conditional', bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      body: Type.Partial(Type.Object({ url, events, enabled: Type.Boolean() })),
      response: { 200: webhookAnswer },
    },
  },
  delete: {
    method: 'DELETE',
    url: '/console/workspaces/:slug/webhooks/:id',
    config: { needs: 'manageWebhooks', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: SlugIdParams, response: { 200: Empty } },
  },
  rotateSecret: {
    method: 'POST',
    url: '/console/workspaces/:slug/webhooks/:id/rotate-secret',
    config: { needs: 'manageWebhooks', proof: 'required', bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: EmptyBody, response: { 200: issuedAnswer } },
  },
  sendTestEvent: {
    method: 'POST',
    url: '/console/workspaces/:slug/webhooks/:id/test',
    config: { needs: 'manageWebhooks', proof: THE_URL_STAYS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: EmptyBody, response: { 201: Type.Object({ delivery: DeliverySchema }) } },
  },
  /** Sends the events of a time range again. `replayed` is how many deliveries the request has created. */
  replay: {
    method: 'POST',
    url: '/console/workspaces/:slug/webhooks/:id/replay',
    config: { needs: 'manageWebhooks', proof: THE_URL_STAYS, bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      body: ReplayBody,
      response: { 201: Type.Object({ replayed: Type.Integer() }) },
    },
  },
} as const satisfies ConsoleRoutes
