import { computed, narrow, nullable } from '../../../db/column.ts'
import { all, type Query } from '../../../db/query.ts'
import type { Mode } from '../../../values/mode.ts'
import type { EventType } from '../../events/event.ts'
import type { Place } from './change.ts'

export interface RecentRow extends Place {
  readonly id: string
  /** The type of an event; null for a refusal. */
  readonly type: EventType | null
}

const RECENT_ROW = {
  account_id: computed.text,
  mode: narrow<Mode>(computed.text),
  type: nullable(narrow<EventType>(computed.text)),
  id: computed.text,
}

export interface RecentRange {
  readonly places: readonly Place[]
  readonly types: readonly string[]
  /** Ids, or texts that sort among them; inclusive. */
  readonly eventsFrom: string
  readonly refusalsFrom: string
  /** For each type in each place. */
  readonly limit: number
}

/** The newest rows of each type in each place. Uses `events_by_type` and `payment_refusals_listed`. */
export function listRecentRows({ places, types, eventsFrom, refusalsFrom, limit }: RecentRange): Query<RecentRow[]> {
  return {
    name: 'list_recent_changes',
    text: `select p.account_id, p.mode, e.type, e.id
      from unnest($1::text[], $2::text[]) as p (account_id, mode)
      cross join unnest($3::text[]) as wanted (type)
      cross join lateral (
        select type, id from events
        where account_id = p.account_id and mode = p.mode and type = wanted.type and id >= $4
        order by id desc limit $6
      ) e
      union all
      select p.account_id, p.mode, null, r.id
      from unnest($1::text[], $2::text[]) as p (account_id, mode)
      cross join lateral (
        select id from payment_refusals
        where account_id = p.account_id and mode = p.mode and id >= $5
        order by id desc limit $6
      ) r`,
    values: [
      places.map(({ accountId }) => accountId),
      places.map(({ mode }) => mode),
      types,
      eventsFrom,
      refusalsFrom,
      limit,
    ],
    read: all(RECENT_ROW, (row) => ({ accountId: row.account_id, mode: row.mode, type: row.type, id: row.id })),
  }
}
