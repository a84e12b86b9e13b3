import { EVENT_TYPES, TEST_EVENT_TYPE, type EventType } from '../domain/events/event.ts'
import type { EventFilter } from '../domain/events/list-events.ts'
import { isId } from '../values/ids.ts'
import { createQueryReader, parseNames } from './read-query.ts'
import { EVENTS_LIMIT_DEFAULT, EVENTS_LIMIT_MAX } from './schemas.ts'

const TYPES: readonly EventType[] = [...EVENT_TYPES, TEST_EVENT_TYPE]

interface ParsedQuery {
  readonly filter: EventFilter
  readonly order: 'asc' | 'desc'
  readonly cursor: string | null
  readonly limit: number
}

/** Parses the query of `GET /v1/events`. Throws a 400 that lists every invalid parameter. */
export function parseEventsQuery(query: unknown): ParsedQuery {
  const { read, readTime, readLimit, check } = createQueryReader(query)
  const parsed = {
    filter: {
      types: read(
        'type',
        (text) => parseNames(text, TYPES),
        `must be one or more of ${TYPES.join(', ')}, separated by commas`,
      ),
      createdAfter: readTime('created_after'),
      createdBefore: readTime('created_before'),
    },
    order: read('order', parseOrder, 'must be asc or desc') ?? 'desc',
    cursor: read('cursor', (text) => (isId('event', text) ? text : null), 'must be an event id'),
    limit: readLimit('limit', { max: EVENTS_LIMIT_MAX, byDefault: EVENTS_LIMIT_DEFAULT }),
  } as const
  check()
  return parsed
}

function parseOrder(text: string): 'asc' | 'desc' | null {
  return text === 'asc' || text === 'desc' ? text : null
}
