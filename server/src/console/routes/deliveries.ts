import { findRecentEvent } from '../../domain/events/queries.ts'
import { formatEvent } from '../../domain/events/format-event.ts'
import { isDeliveryId } from '../../domain/webhooks/delivery.ts'
import { describeDeliveries, getDelivery } from '../../domain/webhooks/queries.ts'
import { listDeliveries } from '../../domain/webhooks/list-deliveries.ts'
import { replayDelivery } from '../../domain/webhooks/replay-delivery.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { isId } from '../../values/ids.ts'
import type { ConsoleContext } from '../console-context.ts'
import { DELIVERY_ROUTES, type DeliveryQuery } from '../contract/deliveries.ts'
import { currentMembership } from '../current-membership.ts'
import { actorOf } from '../current-session.ts'
import { formatAttempt, formatDelivery, formatListedDelivery } from '../format-delivery.ts'
import { parseTimeOf } from '../parse-body.ts'
import { invalidMember } from '../../values/invalid-request.ts'

const PAGE_DELIVERIES = 50

/**
 * Adds the endpoints of the delivery log, the newest delivery first: what we sent to which endpoint, each attempt, and
 * its response.
 */
export function addDeliveryRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...DELIVERY_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const found = await listDeliveries(ctx, {
        workspaceId: workspace.id,
        ...parseQuery(request.query),
        limit: PAGE_DELIVERIES + 1,
      })
      const deliveries = found.slice(0, PAGE_DELIVERIES)
      const summaries = await describeDeliveries(ctx, { workspaceId: workspace.id, deliveries })
      return {
        deliveries: deliveries.map((delivery) => formatListedDelivery(delivery, summaries.get(delivery.id))),
        next: found.length > PAGE_DELIVERIES ? (deliveries.at(-1)?.id ?? null) : null,
      }
    },
  })

  http.route({
    ...DELIVERY_ROUTES.get,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { delivery, attempts } = await getDelivery(ctx, { workspaceId: workspace.id, id: request.params.id })
      const event = await findRecentEvent(ctx, { workspaceId: workspace.id, id: delivery.eventId })
      return {
        delivery: formatDelivery(delivery),
        attempts: attempts.map(formatAttempt),
        // The body, byte for byte as it was sent; null if the event is older than 30 days.
        body: event === null ? null : formatEvent(event, workspace.slug),
      }
    },
  })

  http.route({
    ...DELIVERY_ROUTES.replay,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const actor = actorOf(request)
      const delivery = await replayDelivery(ctx, { workspaceId: workspace.id, deliveryId: request.params.id, actor })
      return reply.code(201).send({ delivery: formatDelivery(delivery) })
    },
  })
}

function parseQuery(query: DeliveryQuery) {
  const { mode, webhook, type, status, event, from, to, before } = query
  if (webhook !== undefined && !isId('endpoint', webhook)) throw invalidMember('webhook', 'must be the id of a webhook')
  if (event !== undefined && !isId('event', event)) throw invalidMember('event', 'must be the id of an event')
  if (before !== undefined && !isDeliveryId(before)) throw invalidMember('before', 'must be the id of a delivery')
  const filter = {
    ...(webhook === undefined ? {} : { endpointId: webhook }),
    ...(type === undefined ? {} : { eventType: type }),
    ...(status === undefined ? {} : { status }),
    ...(event === undefined ? {} : { eventId: event }),
    ...(from === undefined ? {} : { from: parseTimeOf('from', from) }),
    ...(to === undefined ? {} : { to: parseTimeOf('to', to) }),
  }
  return { mode, filter, before: before ?? null }
}
