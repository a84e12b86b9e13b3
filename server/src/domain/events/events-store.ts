import { computed, listOf, narrow, nullable, pick, type RowOf } from '../../db/column.ts'
import { all, countChanged, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'
import type { DomainEvent, EventType, StoredEvent } from './event.ts'

const { events } = tables

const STORED_ROW = {
  ...pick(events, 'workspace_id', 'id', 'mode'),
  type: narrow<EventType>(events.type),
  created_at: events.created_at,
}

const EVENT_ROW = { ...STORED_ROW, data_text: events.data_text }

const COLUMNS = listOf(EVENT_ROW)

export interface EventRange {
  readonly workspaceId: string
  readonly mode: Mode
  readonly types: readonly EventType[]
  /** Event ids, or texts that sort between event ids. Both bounds are exclusive. */
  readonly above: string
  readonly below: string
  readonly limit: number
}

/**
 * Inserts events. The caller must run it in the transaction of the changes that the events report, so that neither is
 * stored without the other (D43). The data of all events is one parameter, a JSON array: in an array of PostgreSQL, each
 * quotation mark would have to be escaped.
 */
export function insertEvents(inserted: readonly DomainEvent[]): Query<number> {
  return {
    name: 'insert_events',
    text: `insert into events (workspace_id, id, mode, type, created_at, data, data_text)
      select workspace_id, id, mode, type, created_at, data::text::jsonb, data::text
      from rows from (unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
          unnest($5::timestamptz[]), json_array_elements($6::json))
        as r (workspace_id, id, mode, type, created_at, data)`,
    values: [
      inserted.map(({ workspaceId }) => workspaceId),
      inserted.map(({ id }) => id),
      inserted.map(({ mode }) => mode),
      inserted.map(({ type }) => type),
      inserted.map(({ createdAt }) => createdAt),
      JSON.stringify(inserted.map(({ data }) => data)),
    ],
    read: countChanged,
  }
}

export interface OldEvents {
  /** The workspaces after this one are examined. */
  readonly after: string
  readonly workspacesMax: number
  /** Events with lower ids are deleted. */
  readonly below: string
  readonly rowsMax: number
}

/**
 * Deletes the oldest events of the next workspaces, in the order of their ids. Events that a delivery still needs stay.
 * Returns how many events were found and deleted, and the last of the workspaces; null if there is none. Uses primary
 * keys and the index `deliveries_of_event`.
 */
export function deleteEventsBelow({ after, workspacesMax, below, rowsMax }: OldEvents): Query<{
  readonly found: number
  readonly deleted: number
  readonly last: string | null
}> {
  return {
    name: 'delete_events_below',
    text: `with page as (
        select id from workspaces where id > $1 order by id limit $2
      ), old as (
        select e.workspace_id, e.id, needed.count from page p
        cross join lateral (
          select workspace_id, id from events where workspace_id = p.id and id < $3 order by id limit $4
        ) e
        cross join lateral (
          select count(*) from (
            select from deliveries where workspace_id = e.workspace_id and event_id = e.id limit 1
          ) one
        ) needed
        limit $4
      ), deleted as (
        delete from events v using old o where v.workspace_id = o.workspace_id and v.id = o.id and o.count = 0
        returning v.id
      )
      select (select count(*) from old) as found, (select count(*) from deleted) as deleted,
        (select max(id) from page) as last`,
    values: [after, workspacesMax, below, rowsMax],
    read: one({ found: computed.int8, deleted: computed.int8, last: nullable(computed.text) }, (row) => ({
      found: Number(row.found),
      deleted: Number(row.deleted),
      last: row.last,
    })),
  }
}

/** Uses the primary key. */
export function findEvent(workspaceId: string, id: string): Query<StoredEvent | null> {
  return {
    name: 'find_event',
    text: `select ${COLUMNS} from events where workspace_id = $1 and id = $2`,
    values: [workspaceId, id],
    read: firstOrNull(EVENT_ROW, toEvent),
  }
}

/**
 * Lists the oldest events of a range. Reads each type separately, by the index `events_by_type`, so that few rows are
 * read.
 */
export function listOldestEvents(range: EventRange): Query<StoredEvent[]> {
  return { name: 'list_oldest_events', text: listText('asc'), values: listValues(range), read: all(EVENT_ROW, toEvent) }
}

/** Lists the newest events of a range, in the same way as `listOldestEvents`. Uses `events_by_type`. */
export function listNewestEvents(range: EventRange): Query<StoredEvent[]> {
  return {
    name: 'list_newest_events',
    text: listText('desc'),
    values: listValues(range),
    read: all(EVENT_ROW, toEvent),
  }
}

function listText(direction: 'asc' | 'desc'): string {
  return `select e.* from unnest($3::text[]) as wanted (type) cross join lateral (
      select ${COLUMNS} from events
      where workspace_id = $1 and mode = $2 and type = wanted.type and id > $4 and id < $5
      order by id ${direction} limit $6
    ) e order by e.id ${direction} limit $6`
}

function listValues({ workspaceId, mode, types, above, below, limit }: EventRange): unknown[] {
  return [workspaceId, mode, types, above, below, limit]
}

function toEvent(row: RowOf<typeof EVENT_ROW>): StoredEvent {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    mode: row.mode,
    type: row.type,
    createdAt: row.created_at,
    dataText: row.data_text,
  }
}
