import { all, type Query } from '../../../db/query.ts'
import type { EventType } from '../../events/event.ts'
import type { Place } from './change.ts'

export interface RecentRow extends Place {
  readonly id: string
  /** Of an event; null for a refusal. */
  readonly type: EventType | null
}

export interface RecentRange {
  readonly places: readonly Place[]
  readonly types: readonly string[]
  /** Ids, or what sorts among them. */
  readonly eventsFrom: string
  readonly refusalsFrom: string
  /** Of one type in one place. */
  readonly limit: number
}

/** The newest of each type in each place, by `events_by_type` and `payment_refusals_listed`. */
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
    read: all((row) => ({ accountId: row['account_id'], mode: row['mode'], type: row['type'], id: row['id'] })),
  }
}
