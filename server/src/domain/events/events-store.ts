import { all, changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Mode } from '../../values/mode.ts'
import type { DomainEvent, EventType, StoredEvent } from './event.ts'

/** Rows from before `data_text` have only what `jsonb` made of theirs. */
const COLUMNS = 'account_id, id, mode, type, created_at, coalesce(data_text, data::text) as data_text'

export interface EventRange {
  readonly accountId: string
  readonly mode: Mode
  readonly types: readonly EventType[]
  /** Ids, or what sorts among them, both exclusive. */
  readonly above: string
  readonly below: string
  readonly limit: number
}

/** Belongs into the transaction that makes the event true (D43). */
export function insertEvent(event: DomainEvent): Query<boolean> {
  const { accountId, id, mode, type, createdAt, data } = event
  return {
    name: 'insert_event',
    text: `insert into events (account_id, id, mode, type, created_at, data, data_text)
      values ($1, $2, $3, $4, $5, $6::text::jsonb, $6::text)`,
    values: [accountId, id, mode, type, createdAt, JSON.stringify(data)],
    read: changed,
  }
}

/** By the primary key. */
export function findEvent(accountId: string, id: string): Query<StoredEvent | null> {
  return {
    name: 'find_event',
    text: `select ${COLUMNS} from events where account_id = $1 and id = $2`,
    values: [accountId, id],
    read: firstOrNull(toEvent),
  }
}

/** The first of a range, type by type, by `events_by_type`: whatever the types, few rows are looked at. */
export function listOldestEvents(range: EventRange): Query<StoredEvent[]> {
  return { name: 'list_oldest_events', text: listText('asc'), values: listValues(range), read: all(toEvent) }
}

/** The same from the range's other end. */
export function listNewestEvents(range: EventRange): Query<StoredEvent[]> {
  return { name: 'list_newest_events', text: listText('desc'), values: listValues(range), read: all(toEvent) }
}

function listText(direction: 'asc' | 'desc'): string {
  return `select e.* from unnest($3::text[]) as wanted (type) cross join lateral (
      select ${COLUMNS} from events
      where account_id = $1 and mode = $2 and type = wanted.type and id > $4 and id < $5
      order by id ${direction} limit $6
    ) e order by e.id ${direction} limit $6`
}

function listValues({ accountId, mode, types, above, below, limit }: EventRange): unknown[] {
  return [accountId, mode, types, above, below, limit]
}

function toEvent(row: Row): StoredEvent {
  return {
    accountId: row['account_id'],
    id: row['id'],
    mode: row['mode'],
    type: row['type'],
    createdAt: row['created_at'],
    dataText: row['data_text'],
  }
}
