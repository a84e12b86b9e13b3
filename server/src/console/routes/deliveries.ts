import type { Static } from 'typebox'
import { findRecentEvent } from '../../domain/events/queries.ts'
import { formatEvent } from '../../domain/events/format-event.ts'
import { isDeliveryId } from '../../domain/webhooks/delivery.ts'
import { getDelivery } from '../../domain/webhooks/queries.ts'
import { listDeliveries } from '../../domain/webhooks/list-deliveries.ts'
import { replayDelivery } from '../../domain/webhooks/replay-delivery.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { isId } from '../../values/ids.ts'
import { membershipOf, type Door } from '../door.ts'
import { formatAttempt, formatDelivery } from '../format-delivery.ts'
import { invalid, parseTime } from '../parse-body.ts'
import { DeliveriesQuery, EmptyBody, SlugIdParams, SlugParams } from '../schemas.ts'

const PAGE_DELIVERIES = 50

/** The delivery log, the newest first: what was sent where, each attempt, and what came back. */
export function addDeliveryRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door

  http.get(
    '/console/workspaces/:slug/deliveries',
    { schema: { params: SlugParams, querystring: DeliveriesQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const found = await listDeliveries(ctx, {
        accountId: account.id,
        ...parseQuery(request.query),
        limit: PAGE_DELIVERIES + 1,
      })
      const deliveries = found.slice(0, PAGE_DELIVERIES)
      return {
        deliveries: deliveries.map(formatDelivery),
        next: found.length > PAGE_DELIVERIES ? (deliveries.at(-1)?.id ?? null) : null,
      }
    },
  )

  http.get('/console/workspaces/:slug/deliveries/:id', { schema: { params: SlugIdParams } }, async (request) => {
    const { account } = await membershipOf(door, request, 'viewer')
    const { delivery, attempts } = await getDelivery(ctx, { accountId: account.id, id: request.params.id })
    const event = await findRecentEvent(ctx, { accountId: account.id, id: delivery.eventId })
    return {
      delivery: formatDelivery(delivery),
      attempts: attempts.map(formatAttempt),
      // As it was sent, byte for byte; null once it is older than 30 days.
      body: event === null ? null : formatEvent(event, account.slug),
    }
  })

  http.post(
    '/console/workspaces/:slug/deliveries/:id/replay',
    { schema: { params: SlugIdParams, body: EmptyBody } },
    async (request, reply) => {
      const { account, userId } = await membershipOf(door, request, 'admin')
      const actor = { kind: 'user', id: userId } as const
      const delivery = await replayDelivery(ctx, { accountId: account.id, deliveryId: request.params.id, actor })
      return reply.code(201).send({ delivery: formatDelivery(delivery) })
    },
  )
}

function parseQuery(query: Static<typeof DeliveriesQuery>) {
  const { mode, webhook, type, status, event, from, to, before } = query
  if (webhook !== undefined && !isId('endpoint', webhook)) throw invalid('webhook', 'must be the id of a webhook')
  if (event !== undefined && !isId('event', event)) throw invalid('event', 'must be the id of an event')
  if (before !== undefined && !isDeliveryId(before)) throw invalid('before', 'must be the id of a delivery')
  const filter = {
    ...(webhook === undefined ? {} : { endpointId: webhook }),
    ...(type === undefined ? {} : { eventType: type }),
    ...(status === undefined ? {} : { status }),
    ...(event === undefined ? {} : { eventId: event }),
    ...(from === undefined ? {} : { from: parseTime('from', from) }),
    ...(to === undefined ? {} : { to: parseTime('to', to) }),
  }
  return { mode, filter, before: before ?? null }
}
