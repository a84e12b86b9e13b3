import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import type { StoredEvent } from '../../domain/events/event.ts'
import { formatEvent } from '../../domain/events/format-event.ts'
import { getEvent } from '../../domain/events/queries.ts'
import { listEvents } from '../../domain/events/list-events.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { callerOf } from '../caller.ts'
import { parseEventsQuery } from '../parse-events-query.ts'
import { errorResponses, EventSchema, EventsQuery, IdParams } from '../schemas.ts'
import type { Authenticate } from './agents.ts'

/** Serves the same events as webhooks, for clients that missed some. */
export function addEventRoutes(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  http.addSchema(EventSchema)
  const onRequest = authenticate({ bucket: 'default' })

  http.get(
    '/v1/events',
    {
      onRequest,
      ...UNCHANGED,
      schema: {
        operationId: 'listEvents',
        summary: 'List events',
        description:
          'The events of the last 30 days in this account and mode, newest first, or oldest first with order=asc. Pages have ' +
          'no gaps and no duplicates, even while new events arrive. An event becomes readable shortly after its created_at, ' +
          'when its transaction has committed. With order=asc only events older than 30 seconds are listed, so that none ' +
          'appears before your cursor. To follow new events, poll with order=asc and the id of the last event of your ' +
          'previous page as cursor; next_cursor null means that there are no more events yet. The first time, or after a ' +
          'webhook, start with created_after, one minute before the last event that you have seen.',
        tags: ['Events'],
        querystring: EventsQuery,
        response: {
          200: Type.Object(
            {
              events: Type.Array(Type.Ref('Event')),
              next_cursor: Type.Union([Type.String(), Type.Null()], {
                description: 'The cursor of the next page; null if there are no more events yet.',
              }),
            },
            { description: 'A page of events.' },
          ),
          ...errorResponses(400, 401, 429, 500, 503),
        },
      },
    },
    async (request) => {
      const { accountId, mode, accountSlug } = callerOf(request)
      const page = await listEvents(ctx, { accountId, mode, ...parseEventsQuery(request.query) })
      return { events: page.events.map((event) => toEnvelope(event, accountSlug)), next_cursor: page.nextCursor }
    },
  )

  http.get(
    '/v1/events/:id',
    {
      onRequest,
      ...UNCHANGED,
      schema: {
        operationId: 'getEvent',
        summary: 'Retrieve one event',
        description: 'An event of the last 30 days, as webhooks deliver it.',
        tags: ['Events'],
        params: IdParams,
        response: {
          200: Type.Object({ event: Type.Ref('Event') }, { description: 'The event as it was written.' }),
          ...errorResponses(401, 404, 429, 500, 503),
        },
      },
    },
    async (request) => {
      const { accountId, mode, accountSlug } = callerOf(request)
      return { event: toEnvelope(await getEvent(ctx, { accountId, mode, id: request.params.id }), accountSlug) }
    },
  )
}

/**
 * The schemas are only for the contract. `parseEventsQuery` parses the query, and an event is returned exactly as it was
 * stored, as webhooks deliver it.
 */
const UNCHANGED = {
  validatorCompiler: () => () => true,
  serializerCompiler: () => JSON.stringify,
}

function toEnvelope(event: StoredEvent, accountSlug: string): unknown {
  return JSON.parse(formatEvent(event, accountSlug))
}
