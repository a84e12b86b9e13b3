import type { StoredEvent } from '../../domain/events/event.ts'
import { formatEvent } from '../../domain/events/format-event.ts'
import { getEvent } from '../../domain/events/queries.ts'
import { listEvents } from '../../domain/events/list-events.ts'
import { listDeliveries } from '../../domain/webhooks/list-deliveries.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { isId } from '../../values/ids.ts'
import { membershipOf, type Door } from '../door.ts'
import { formatDelivery } from '../format-delivery.ts'
import { invalid } from '../parse-body.ts'
import { ModeQuery, SlugIdParams, SlugParams } from '../schemas.ts'
import { EventsQuery } from '../schemas-workspace.ts'

const PAGE_EVENTS = 50
/** One for each endpoint, and the newest replays. */
const DELIVERIES_MAX = 100

/** What became true in the last 30 days, the newest first, and where each was sent. */
export function addEventRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door

  http.get(
    '/console/workspaces/:slug/events',
    { schema: { params: SlugParams, querystring: EventsQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const { mode, type, before = null } = request.query
      if (before !== null && !isId('event', before)) throw invalid('before', 'must be the id of an event')
      const { events, nextCursor } = await listEvents(ctx, {
        accountId: account.id,
        mode,
        filter: { types: type === undefined ? null : [type], createdAfter: null, createdBefore: null },
        order: 'desc',
        cursor: before,
        limit: PAGE_EVENTS,
      })
      return { events: events.map((event) => readEnvelope(event, account.slug)), next: nextCursor }
    },
  )

  http.get(
    '/console/workspaces/:slug/events/:id',
    { schema: { params: SlugIdParams, querystring: ModeQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const { mode } = request.query
      const event = await getEvent(ctx, { accountId: account.id, mode, id: request.params.id })
      const filter = { eventId: event.id }
      const deliveries = await listDeliveries(ctx, {
        ...{ accountId: account.id, mode, filter, before: null },
        limit: DELIVERIES_MAX,
      })
      return {
        // As it is sent, byte for byte.
        body: formatEvent(event, account.slug),
        event: readEnvelope(event, account.slug),
        deliveries: deliveries.map(formatDelivery),
      }
    },
  )
}

function readEnvelope(event: StoredEvent, slug: string): unknown {
  return JSON.parse(formatEvent(event, slug))
}
