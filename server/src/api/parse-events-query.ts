import { EVENT_TYPES, TEST_EVENT_TYPE, type EventType } from '../domain/events/event.ts'
import type { EventFilter } from '../domain/events/list-events.ts'
import { isId } from '../values/ids.ts'
import { Problem } from '../values/problem.ts'
import { parseTime } from '../values/time.ts'
import { EVENTS_LIMIT_DEFAULT, EVENTS_LIMIT_MAX } from './schemas.ts'

const WHOLE_NUMBER = /^[1-9]\d{0,2}$/
const TYPES: readonly EventType[] = [...EVENT_TYPES, TEST_EVENT_TYPE]

interface ParsedQuery {
  readonly filter: EventFilter
  readonly order: 'asc' | 'desc'
  readonly cursor: string | null
  readonly limit: number
}

/** Parses the query of `GET /v1/events`. Throws a 400 that lists every invalid parameter. */
export function parseEventsQuery(query: unknown): ParsedQuery {
  const parameters: Readonly<Record<string, unknown>> = typeof query === 'object' && query !== null ? { ...query } : {}
  const issues: { path: string; message: string }[] = []
  const read = <Value>(path: string, parse: (text: string) => Value | null, message: string): Value | null => {
    const text = parameters[path]
    if (text === undefined) return null
    // A parameter that was sent twice is an array, and invalid.
    const value = typeof text === 'string' ? parse(text) : null
    if (value === null) issues.push({ path, message })
    return value
  }

  const parsed = {
    filter: {
      types: read('type', parseTypes, `must be one or more of ${TYPES.join(', ')}, separated by commas`),
      createdAfter: read('created_after', parseTime, TIME_MESSAGE),
      createdBefore: read('created_before', parseTime, TIME_MESSAGE),
    },
    order: read('order', parseOrder, 'must be asc or desc') ?? 'desc',
    cursor: read('cursor', (text) => (isId('event', text) ? text : null), 'must be an event id'),
    limit: read('limit', parseLimit, `must be a whole number from 1 to ${EVENTS_LIMIT_MAX}`) ?? EVENTS_LIMIT_DEFAULT,
  } as const
  const first = issues[0]
  if (first === undefined) return parsed
  throw new Problem('validation_failed', `${first.path} ${first.message}.`, { details: issues })
}

const TIME_MESSAGE = 'must be an ISO 8601 time with a UTC offset'

function parseTypes(text: string): readonly EventType[] | null {
  const names = new Set(text.split(','))
  const types = TYPES.filter((type) => names.delete(type))
  return names.size === 0 ? types : null
}

function parseOrder(text: string): 'asc' | 'desc' | null {
  return text === 'asc' || text === 'desc' ? text : null
}

function parseLimit(text: string): number | null {
  const limit = WHOLE_NUMBER.test(text) ? Number(text) : null
  return limit !== null && limit <= EVENTS_LIMIT_MAX ? limit : null
}
