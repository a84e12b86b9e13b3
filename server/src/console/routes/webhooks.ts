import { changeEndpoint } from '../../domain/webhooks/change-endpoint.ts'
import { createEndpoint } from '../../domain/webhooks/create-endpoint.ts'
import { deleteEndpoint } from '../../domain/webhooks/delete-endpoint.ts'
import type { EndpointWithSecret, WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { getEndpoint, listEndpoints } from '../../domain/webhooks/queries.ts'
import { replayRange } from '../../domain/webhooks/replay-range.ts'
import { rotateSecret } from '../../domain/webhooks/rotate-secret.ts'
import { sendTestEvent } from '../../domain/webhooks/send-test-event.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { WEBHOOK_ROUTES, type IssuedWebhook, type Webhook } from '../contract/webhooks.ts'
import { memberOf, currentMembership } from '../current-membership.ts'
import { formatDelivery } from '../format-delivery.ts'
import { parseTimeOf } from '../parse-body.ts'
import { invalidMember } from '../../values/invalid-request.ts'

/**
 * Adds the routes for a workspace's webhook endpoints (D45). Members who may change an endpoint may also send its
 * events again.
 */
export function addWebhookRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...WEBHOOK_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const endpoints = await listEndpoints(ctx, { workspaceId: workspace.id, mode: request.query.mode })
      return { webhooks: endpoints.map(formatWebhook) }
    },
  })

  http.route({
    ...WEBHOOK_ROUTES.create,
    handler: async (request, reply) => {
      const { workspaceId, actor } = memberOf(request)
      const { mode, url, events } = request.body
      const made = await createEndpoint(ctx, { workspaceId, mode, url, events, actor })
      return reply.code(201).send({ webhook: formatWithSecret(made) })
    },
  })

  http.route({
    ...WEBHOOK_ROUTES.get,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      return { webhook: formatWebhook(await getEndpoint(ctx, { workspaceId: workspace.id, id: request.params.id })) }
    },
  })

  http.route({
    ...WEBHOOK_ROUTES.change,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { url, events, enabled } = request.body
      const change = {
        ...(url === undefined ? {} : { url }),
        ...(events === undefined ? {} : { events }),
        ...(enabled === undefined ? {} : { enabled }),
      }
      const changed = await changeEndpoint(ctx, { workspaceId, id: request.params.id, change, actor })
      return { webhook: formatWebhook(changed) }
    },
  })

  http.route({
    ...WEBHOOK_ROUTES.delete,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      await deleteEndpoint(ctx, { workspaceId, id: request.params.id, actor })
      return {}
    },
  })

  http.route({
    ...WEBHOOK_ROUTES.rotateSecret,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      return { webhook: formatWithSecret(await rotateSecret(ctx, { workspaceId, id: request.params.id, actor })) }
    },
  })

  http.route({
    ...WEBHOOK_ROUTES.sendTestEvent,
    handler: async (request, reply) => {
      const { workspaceId, actor } = memberOf(request)
      const delivery = await sendTestEvent(ctx, { workspaceId, id: request.params.id, actor })
      return reply.code(201).send({ delivery: formatDelivery(delivery) })
    },
  })

  http.route({
    ...WEBHOOK_ROUTES.replay,
    handler: async (request, reply) => {
      const { workspaceId, actor } = memberOf(request)
      const [from, to] = [parseTimeOf('from', request.body.from), parseTimeOf('to', request.body.to)]
      if (from >= to) throw invalidMember('to', 'must be later than from')
      const { only } = request.body
      const replayed = await replayRange(ctx, { workspaceId, endpointId: request.params.id, from, to, only, actor })
      return reply.code(201).send({ replayed })
    },
  })
}

function formatWebhook(endpoint: WebhookEndpoint): Webhook {
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

/** Formats a webhook endpoint with its new secret. This is the only response that contains the secret. */
function formatWithSecret({ endpoint, secret }: EndpointWithSecret): IssuedWebhook {
  return { ...formatWebhook(endpoint), secret }
}
