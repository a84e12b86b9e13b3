import { idBoundary } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS, EVENT_TYPES, type EventType, type StoredEvent } from './event.ts'
import { listNewestEvents, listOldestEvents } from './events-store.ts'

/**
 * An event becomes visible when its transaction commits, which is some time after the moment in its id. Reading forward
 * stops this long before now, so that no older event can appear behind the reader's position.
 */
const SETTLED_MS = 30_000

export interface EventFilter {
  /** Null selects all types that can be subscribed to. */
  readonly types: readonly EventType[] | null
  /** Created at this time or later. */
  readonly createdAfter: Date | null
  /** Created before this time. */
  readonly createdBefore: Date | null
}

export interface EventPage {
  readonly events: StoredEvent[]
  /** The cursor of the next page. Null if there is none yet. */
  readonly nextCursor: string | null
}

/**
 * Lists events of the last 30 days in this (account, mode), newest or oldest first, at most `limit`, starting after the
 * event `cursor` if one is given. Pages have no gaps and no duplicates, whatever is written meanwhile.
 */
export async function listEvents(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: {
    readonly accountId: string
    readonly mode: Mode
    readonly filter: EventFilter
    readonly order: 'asc' | 'desc'
    readonly cursor: string | null
    readonly limit: number
  },
): Promise<EventPage> {
  const { accountId, mode, filter, order, cursor, limit } = request
  const now = ctx.clock.now()
  const oldest = idBoundary('event', new Date(now.getTime() - EVENT_RETENTION_MS))
  const settled = idBoundary('event', new Date(now.getTime() - SETTLED_MS))
  const from = filter.createdAfter === null ? oldest : idBoundary('event', filter.createdAfter)
  const upTo = filter.createdBefore === null ? NEWEST : idBoundary('event', filter.createdBefore)
  const isForward = order === 'asc'

  const range = {
    accountId,
    mode,
    types: filter.types ?? EVENT_TYPES,
    above: greatest([oldest, from, ...(isForward && cursor !== null ? [cursor] : [])]),
    below: least([upTo, ...(isForward ? [settled] : []), ...(!isForward && cursor !== null ? [cursor] : [])]),
    limit: limit + 1,
  }
  const found = await ctx.db.runSlow(isForward ? listOldestEvents(range) : listNewestEvents(range))
  const events = found.slice(0, limit)
  return { events, nextCursor: found.length > limit ? (events.at(-1)?.id ?? null) : null }
}

/** Sorts above all event ids for the next thousands of years, because ids begin with the digits of their time. */
const NEWEST = 'evt_Z'

function greatest(texts: readonly string[]): string {
  return texts.reduce((left, right) => (left > right ? left : right))
}

function least(texts: readonly string[]): string {
  return texts.reduce((left, right) => (left < right ? left : right))
}
