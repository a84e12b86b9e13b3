import { idBoundary } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS, EVENT_TYPES, type EventType, type StoredEvent } from './event.ts'
import { listNewestEvents, listOldestEvents } from './events-store.ts'

/**
 * An event is there when its transaction has committed, a while after the moment that its id tells. Whoever reads forward
 * is shown none that is younger, so that no other one turns up behind them.
 */
const SETTLED_MS = 30_000

export interface EventFilter {
  /** Null: whatever others can ask for. */
  readonly types: readonly EventType[] | null
  /** From this time on. */
  readonly createdAfter: Date | null
  /** Up to this time, without it. */
  readonly createdBefore: Date | null
}

export interface EventPage {
  readonly events: StoredEvent[]
  /** Where the next page begins; null where there is none by now. */
  readonly nextCursor: string | null
}

/**
 * Events of the last 30 days in this (account, mode), newest or oldest first, `limit` at the most, beyond the event
 * `cursor` where one is given. Pages have no gaps and no doubles, whatever happens meanwhile.
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

/** Above every id of an event for thousands of years: theirs begin with lower digits. */
const NEWEST = 'evt_Z'

function greatest(texts: readonly string[]): string {
  return texts.reduce((left, right) => (left > right ? left : right))
}

function least(texts: readonly string[]): string {
  return texts.reduce((left, right) => (left < right ? left : right))
}
