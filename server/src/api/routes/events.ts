import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import type { StoredEvent } from '../../domain/events/event.ts'
import { formatEvent } from '../../domain/events/format-event.ts'
import { getEvent } from '../../domain/events/queries.ts'
import { listEvents } from '../../domain/events/list-events.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { callerOf } from '../caller.ts'
import { parseEventsQuery } from '../parse-events-query.ts'
import { EventReference, EventsQuery, PathId } from '../schemas.ts'
import type { Authenticate } from './agents.ts'

/**
 * Adds the routes that read events. They return the same events that webhooks deliver, for receivers that missed some.
 */
export function addEventRoutes(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  const onRequest = authenticate({ bucket: 'default' })

  http.get(
    '/v1/events',
    {
      onRequest,
      config: { load: 'database' },
      ...UNCHANGED,
      schema: {
        operationId: 'listEvents',
        summary: 'List events',
        description:
          'Returns the events of the last 30 days in this workspace and mode, newest first, or oldest first with order=asc. ' +
          'Pages have no gaps and no duplicates, even while new events arrive. An event becomes readable shortly after its ' +
          'created_at, when its transaction has committed. Until then, events that were created later can already be ' +
          'readable. So that you miss no event, order=asc lists only events that are older than 30 seconds. To follow new events, poll with order=asc and use the id of ' +
          'the last event of the previous page as the cursor. If next_cursor is null, there are no more events yet. For the ' +
          'first request, or after a webhook, set created_after to one minute before the last event that you have seen.',
        tags: ['Events'],
        querystring: EventsQuery,
        response: {
          200: Type.Object(
            {
              events: Type.Array(EventReference),
              next_cursor: Type.Union([Type.String(), Type.Null()], {
                description: 'The cursor of the next page. Null if there are no more events yet.',
              }),
            },
            { description: 'A page of events.' },
          ),
        },
      },
    },
    async (request) => {
      const { workspaceId, mode, workspaceSlug } = callerOf(request)
      const page = await listEvents(ctx, { workspaceId, mode, ...parseEventsQuery(request.query) })
      return { events: page.events.map((event) => toEnvelope(event, workspaceSlug)), next_cursor: page.nextCursor }
    },
  )

  http.get(
    '/v1/events/:id',
    {
      onRequest,
      config: { load: 'database' },
      ...UNCHANGED,
      schema: {
        operationId: 'getEvent',
        summary: 'Retrieve one event',
        description: 'Returns an event of the last 30 days in the form in which webhooks deliver it.',
        tags: ['Events'],
        params: PathId,
        response: {
          200: Type.Object({ event: EventReference }, { description: 'The event at the time when it was created.' }),
        },
        errors: ['event_not_found'],
      },
    },
    async (request) => {
      const { workspaceId, mode, workspaceSlug } = callerOf(request)
      return { event: toEnvelope(await getEvent(ctx, { workspaceId, mode, id: request.params.id }), workspaceSlug) }
    },
  )
}

/**
 * Turns off validation and serialization by the schemas, which only describe these routes in `openapi.json`.
 * `parseEventsQuery` parses the query, and an event is returned exactly as it was stored, as webhooks deliver it.
 */
const UNCHANGED = {
  validatorCompiler: () => () => true,
  serializerCompiler: () => JSON.stringify,
}

function toEnvelope(event: StoredEvent, workspaceSlug: string): unknown {
  return JSON.parse(formatEvent(event, workspaceSlug))
}
