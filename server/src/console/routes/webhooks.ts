import { changeEndpoint } from '../../domain/webhooks/change-endpoint.ts'
import { createEndpoint } from '../../domain/webhooks/create-endpoint.ts'
import { deleteEndpoint } from '../../domain/webhooks/delete-endpoint.ts'
import type { EndpointWithSecret, WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { getEndpoint, listEndpoints } from '../../domain/webhooks/queries.ts'
import { replayRange } from '../../domain/webhooks/replay-range.ts'
import { rotateSecret } from '../../domain/webhooks/rotate-secret.ts'
import { sendTestEvent } from '../../domain/webhooks/send-test-event.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { membershipOf, type Door } from '../door.ts'
import { formatDelivery } from '../format-delivery.ts'
import { invalid, parseTime } from '../parse-body.ts'
import {
  EmptyBody,
  ModeQuery,
  ReplayBody,
  SlugIdParams,
  SlugParams,
  WebhookBody,
  WebhookChangeBody,
} from '../schemas.ts'
import { actorOf } from '../visitor.ts'

/** A workspace's webhook endpoints (D45). Whoever may change one may send its events again. */
export function addWebhookRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door

  http.get(
    '/console/workspaces/:slug/webhooks',
    { schema: { params: SlugParams, querystring: ModeQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const endpoints = await listEndpoints(ctx, { accountId: account.id, mode: request.query.mode })
      return { webhooks: endpoints.map(formatWebhook) }
    },
  )

  http.post(
    '/console/workspaces/:slug/webhooks',
    { schema: { params: SlugParams, body: WebhookBody } },
    async (request, reply) => {
      const { accountId, actor } = await adminOf(door, request)
      const { mode, url, events } = request.body
      const made = await createEndpoint(ctx, { accountId, mode, url, events, actor })
      return reply.code(201).send({ webhook: formatWithSecret(made) })
    },
  )

  http.get('/console/workspaces/:slug/webhooks/:id', { schema: { params: SlugIdParams } }, async (request) => {
    const { account } = await membershipOf(door, request, 'viewer')
    return { webhook: formatWebhook(await getEndpoint(ctx, { accountId: account.id, id: request.params.id })) }
  })

  http.patch(
    '/console/workspaces/:slug/webhooks/:id',
    { schema: { params: SlugIdParams, body: WebhookChangeBody } },
    async (request) => {
      const { accountId, actor } = await adminOf(door, request)
      const { url, events, enabled } = request.body
      const change = {
        ...(url === undefined ? {} : { url }),
        ...(events === undefined ? {} : { events }),
        ...(enabled === undefined ? {} : { enabled }),
      }
      const changed = await changeEndpoint(ctx, { accountId, id: request.params.id, change, actor })
      return { webhook: formatWebhook(changed) }
    },
  )

  http.delete('/console/workspaces/:slug/webhooks/:id', { schema: { params: SlugIdParams } }, async (request) => {
    const { accountId, actor } = await adminOf(door, request)
    await deleteEndpoint(ctx, { accountId, id: request.params.id, actor })
    return {}
  })

  http.post(
    '/console/workspaces/:slug/webhooks/:id/rotate-secret',
    { schema: { params: SlugIdParams, body: EmptyBody } },
    async (request) => {
      const { accountId, actor } = await adminOf(door, request)
      return { webhook: formatWithSecret(await rotateSecret(ctx, { accountId, id: request.params.id, actor })) }
    },
  )

  http.post(
    '/console/workspaces/:slug/webhooks/:id/test',
    { schema: { params: SlugIdParams, body: EmptyBody } },
    async (request, reply) => {
      const { accountId, actor } = await adminOf(door, request)
      const delivery = await sendTestEvent(ctx, { accountId, id: request.params.id, actor })
      return reply.code(201).send({ delivery: formatDelivery(delivery) })
    },
  )

  http.post(
    '/console/workspaces/:slug/webhooks/:id/replay',
    { schema: { params: SlugIdParams, body: ReplayBody } },
    async (request, reply) => {
      const { accountId, actor } = await adminOf(door, request)
      const [from, to] = [parseTime('from', request.body.from), parseTime('to', request.body.to)]
      if (from >= to) throw invalid('to', 'must be later than from')
      const { only } = request.body
      const replayed = await replayRange(ctx, { accountId, endpointId: request.params.id, from, to, only, actor })
      return reply.code(201).send({ replayed })
    },
  )
}

async function adminOf(door: Door, request: Parameters<typeof membershipOf>[1]) {
  const { account } = await membershipOf(door, request, 'admin')
  return { accountId: account.id, actor: actorOf(request) }
}

function formatWebhook(endpoint: WebhookEndpoint) {
  return {
    id: endpoint.id,
    mode: endpoint.mode,
    url: endpoint.url,
    events: endpoint.events,
    status: endpoint.disabledAt === null ? 'enabled' : 'disabled',
    disabled_because: endpoint.disabledBecause,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    created_at: endpoint.createdAt.toISOString(),
  }
}

/** The one time that it is shown. */
function formatWithSecret({ endpoint, secret }: EndpointWithSecret) {
  return { ...formatWebhook(endpoint), secret }
}
