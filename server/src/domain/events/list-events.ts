import { idBoundary } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS, EVENT_TYPES, type EventType, type StoredEvent } from './event.ts'
import { listNewestEvents, listOldestEvents } from './events-store.ts'

/**
 * An event becomes visible when its transaction commits, which is later than the time in its id. A list with the oldest
 * events first leaves out events that are younger than `SETTLED_MS`. Otherwise, an event could become visible after the
 * reader's cursor had passed its id.
 */
const SETTLED_MS = 30_000

export interface EventFilter {
  /** Null selects all types that endpoints can subscribe to. */
  readonly types: readonly EventType[] | null
  /** Created at this time or later. */
  readonly createdAfter: Date | null
  /** Created before this time. */
  readonly createdBefore: Date | null
}

export interface EventPage {
  readonly events: StoredEvent[]
  /** The cursor of the next page. Null if there are no more events yet. */
  readonly nextCursor: string | null
}

/**
 * Lists at most `limit` events of the workspace and mode from the last 30 days, newest or oldest first. If `cursor` is
 * given, the page starts after the event with that id. Pages have no gaps and no duplicates, even if new events are
 * written meanwhile.
 */
export async function listEvents(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly filter: EventFilter
    readonly order: 'asc' | 'desc'
    readonly cursor: string | null
    readonly limit: number
  },
): Promise<EventPage> {
  const { workspaceId, mode, filter, order, cursor, limit } = request
  const now = ctx.clock.now()
  const oldest = idBoundary('event', new Date(now.getTime() - EVENT_RETENTION_MS))
  const settled = idBoundary('event', new Date(now.getTime() - SETTLED_MS))
  const from = filter.createdAfter === null ? oldest : idBoundary('event', filter.createdAfter)
  const upTo = filter.createdBefore === null ? NEWEST : idBoundary('event', filter.createdBefore)
  const isForward = order === 'asc'

  const range = {
    workspaceId,
    mode,
    types: filter.types ?? EVENT_TYPES,
    above: greatest([oldest, from, ...(isForward && cursor !== null ? [cursor] : [])]),
    below: least([upTo, ...(isForward ? [settled] : []), ...(!isForward && cursor !== null ? [cursor] : [])]),
    limit: limit + 1,
  }
  const found = await ctx.db.readSlow(isForward ? listOldestEvents(range) : listNewestEvents(range), workspaceId)
  const events = found.slice(0, limit)
  return { events, nextCursor: found.length > limit ? (events.at(-1)?.id ?? null) : null }
}

/** Sorts after every event id. An id begins with its encoded time, which does not reach `Z` for thousands of years. */
const NEWEST = 'evt_Z'

function greatest(texts: readonly string[]): string {
  return texts.reduce((left, right) => (left > right ? left : right))
}

function least(texts: readonly string[]): string {
  return texts.reduce((left, right) => (left < right ? left : right))
}
