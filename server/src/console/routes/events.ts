import type { StoredEvent } from '../../domain/events/event.ts'
import { formatEvent } from '../../domain/events/format-event.ts'
import { getEvent } from '../../domain/events/queries.ts'
import { listEvents } from '../../domain/events/list-events.ts'
import { listDeliveries } from '../../domain/webhooks/list-deliveries.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { EVENT_ROUTES, type EventEnvelope } from '../contract/events.ts'
import { currentMembership } from '../current-membership.ts'
import { parseBefore } from '../parse-body.ts'
import { formatDelivery } from '../format-delivery.ts'

const PAGE_EVENTS = 50
/**
 * At most this many deliveries are shown for one event: enough for one delivery per webhook endpoint, and for the
 * newest replays.
 */
const DELIVERIES_MAX = 100

/** Adds the endpoints for the events of the last 30 days, the newest first, and for the deliveries of each event. */
export function addConsoleEventRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...EVENT_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode, type } = request.query
      const before = parseBefore('event', request.query.before)
      const { events, nextCursor } = await listEvents(ctx, {
        workspaceId: workspace.id,
        mode,
        filter: { types: type === undefined ? null : [type], createdAfter: null, createdBefore: null },
        order: 'desc',
        cursor: before,
        limit: PAGE_EVENTS,
      })
      return { events: events.map((event) => readEnvelope(event, workspace.slug)), next: nextCursor }
    },
  })

  http.route({
    ...EVENT_ROUTES.get,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.query
      const event = await getEvent(ctx, { workspaceId: workspace.id, mode, id: request.params.id })
      const filter = { eventId: event.id }
      const deliveries = await listDeliveries(ctx, {
        ...{ workspaceId: workspace.id, mode, filter, before: null },
        limit: DELIVERIES_MAX,
      })
      return {
        // The body, byte for byte as we send it to webhook endpoints.
        body: formatEvent(event, workspace.slug),
        event: readEnvelope(event, workspace.slug),
        deliveries: deliveries.map(formatDelivery),
      }
    },
  })
}

/**
 * Returns the event as webhooks receive it. Parses the text that we send, so the event that the page shows can never
 * differ from that text.
 */
function readEnvelope(event: StoredEvent, slug: string): EventEnvelope {
  return JSON.parse(formatEvent(event, slug)) as EventEnvelope
}
