import { computed, listOf, narrow, nullable, pick, type RowOf } from '../../db/column.ts'
import { all, changed, countChanged, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'
import type { DomainEvent, EventType } from '../events/event.ts'
import type { AttemptError, Delivery, DeliveryAttempt, DeliveryStatus } from './delivery.ts'

const { deliveries, delivery_attempts: attempts } = tables

export const DELIVERY_ROW = {
  ...pick(deliveries, 'workspace_id', 'id', 'mode', 'endpoint_id', 'event_id'),
  event_type: narrow<EventType>(deliveries.event_type),
  ...pick(deliveries, 'trigger', 'status', 'attempts', 'next_attempt_at', 'created_at', 'finished_at'),
}

export const DELIVERY_COLUMNS = listOf(DELIVERY_ROW)

const ATTEMPT_ROW = {
  ...pick(attempts, 'number', 'started_at', 'duration_ms', 'status_code'),
  error: narrow<AttemptError>(attempts.error),
  response_body: attempts.response_body,
}

/**
 * Selects the deliveries that a log shows. A field that is null does not restrict the selection. `from` and `below` are
 * delivery ids, or texts that sort between such ids. `from` is inclusive, `below` is exclusive.
 */
export interface DeliverySelection {
  readonly endpointId: string | null
  readonly eventId: string | null
  readonly eventType: string | null
  readonly status: DeliveryStatus | null
  readonly from: string
  readonly below: string
}

/**
 * Inserts a delivery of each event for each endpoint that is subscribed to it now. `offset 0` keeps the planner from
 * merging the subquery into a join, so the endpoints of each event are looked up. Uses the index
 * `webhook_endpoints_listed`.
 */
export function insertDeliveries(events: readonly DomainEvent[]): Query<number> {
  return {
    name: 'insert_deliveries',
    text: `insert into deliveries
        (workspace_id, id, mode, endpoint_id, event_id, event_type, trigger, status, next_attempt_at, created_at)
      select e.workspace_id, 'dlv_' || substr(r.id, 5) || '_' || substr(e.id, 5), e.mode, e.id, r.id, r.type, 'event',
        'pending', r.created_at, r.created_at
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
        as r (workspace_id, id, mode, type, created_at)
      cross join lateral (select workspace_id, id, mode from webhook_endpoints
        where workspace_id = r.workspace_id and mode = r.mode and deleted_at is null and disabled_at is null
          and r.type = any (events) offset 0) e`,
    values: [
      events.map(({ workspaceId }) => workspaceId),
      events.map(({ id }) => id),
      events.map(({ mode }) => mode),
      events.map(({ type }) => type),
      events.map(({ createdAt }) => createdAt),
    ],
    read: countChanged,
  }
}

export function insertDelivery(delivery: Delivery): Query<boolean> {
  const { workspaceId, id, mode, endpointId, eventId, eventType, trigger, status, nextAttemptAt, createdAt } = delivery
  return {
    name: 'insert_delivery',
    text: `insert into deliveries
        (workspace_id, id, mode, endpoint_id, event_id, event_type, trigger, status, next_attempt_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [workspaceId, id, mode, endpointId, eventId, eventType, trigger, status, nextAttemptAt, createdAt],
    read: changed,
  }
}

/** Uses the primary key. */
export function findDelivery(workspaceId: string, id: string): Query<Delivery | null> {
  return {
    name: 'find_delivery',
    text: `select ${DELIVERY_COLUMNS} from deliveries where workspace_id = $1 and id = $2`,
    values: [workspaceId, id],
    read: firstOrNull(DELIVERY_ROW, toDelivery),
  }
}

/** Lists a delivery's attempts, oldest first. Uses the primary key. */
export function listAttempts(workspaceId: string, deliveryId: string): Query<DeliveryAttempt[]> {
  return {
    name: 'list_delivery_attempts',
    text: `select number, started_at, duration_ms, status_code, error, response_body from delivery_attempts
      where workspace_id = $1 and delivery_id = $2 order by number`,
    values: [workspaceId, deliveryId],
    read: all(ATTEMPT_ROW, toAttempt),
  }
}

/**
 * Lists deliveries, newest first. The deliveries of one event are read by the index `deliveries_of_event`. Otherwise,
 * the deliveries of each endpoint are read by the index `deliveries_failed` or `deliveries_of_endpoint`, and merged.
 * The log includes the deliveries of deleted endpoints.
 */
export function listDeliveryRows(
  workspaceId: string,
  mode: Mode,
  filter: DeliverySelection,
  limit: number,
): Query<Delivery[]> {
  const { endpointId, eventId, eventType, status, from, below } = filter
  const kind = eventId !== null ? 'event' : status === 'failed' ? 'failed' : 'all'
  return {
    name: `list_deliveries_${kind}`,
    text: LOG_TEXTS[kind],
    values: [workspaceId, mode, endpointId, eventId, eventType, status, from, below, limit],
    read: all(DELIVERY_ROW, toDelivery),
  }
}

const LOG_CONDITIONS = `id >= $7 and id < $8 and ($4::text is null or event_id = $4)
  and ($5::text is null or event_type = $5) and ($6::text is null or status = $6)`

function mergedLog(condition: string): string {
  return `select d.* from webhook_endpoints e cross join lateral (
      select ${DELIVERY_COLUMNS} from deliveries
      where workspace_id = e.workspace_id and endpoint_id = e.id and ${LOG_CONDITIONS} and ${condition}
      order by id desc limit $9
    ) d
    where e.workspace_id = $1 and e.mode = $2 and ($3::text is null or e.id = $3) order by d.id desc limit $9`
}

const LOG_TEXTS = {
  all: mergedLog('true'),
  failed: mergedLog("status = 'failed'"),
  // An event has few deliveries, so the query reads all of them and then filters.
  event: `with of_event as materialized (
      select ${DELIVERY_COLUMNS} from deliveries where workspace_id = $1 and event_id = $4
    )
    select * from of_event where mode = $2 and ($3::text is null or endpoint_id = $3) and ${LOG_CONDITIONS}
    order by id desc limit $9`,
} as const

/** Returns whether replays to an endpoint are queued or in progress. Uses the index `deliveries_replays_pending`. */
export function hasPendingReplays(workspaceId: string, endpointId: string): Query<boolean> {
  return {
    name: 'has_pending_replays',
    text: `select 1 from deliveries
      where workspace_id = $1 and endpoint_id = $2 and status = 'pending' and trigger = 'replay' limit 1`,
    values: [workspaceId, endpointId],
    read: changed,
  }
}

export interface ReplayBatch {
  readonly workspaceId: string
  readonly endpointId: string
  /** Delivery ids, or texts that sort between such ids. `from` is inclusive, `below` is exclusive. */
  readonly from: string
  readonly below: string
  readonly only: 'failed' | 'all'
  /** The ids for the new deliveries. At most one delivery is created for each id. */
  readonly ids: readonly string[]
  readonly now: Date
}

/**
 * The conditions that select the deliveries to replay. The status is a constant in the SQL and not a parameter, so that
 * the planner can use the index `deliveries_failed`.
 */
const REPLAYED = {
  all: "status <> 'pending'",
  failed: `status = 'failed' and (
              select count(*) from deliveries r
              where r.workspace_id = $1 and r.event_id = o.event_id and r.endpoint_id = $2 and r.trigger = 'replay'
                and r.status = 'succeeded') = 0`,
} as const satisfies Record<ReplayBatch['only'], string>

/**
 * Replays deliveries, oldest first: inserts a new delivery for each. Only deliveries that were created by their event
 * are replayed. `failed` leaves out deliveries whose event was delivered by a replay since. Returns how many were
 * replayed, and the id of the last replayed delivery. Uses `deliveries_of_endpoint` or `deliveries_failed`, and
 * `deliveries_of_event`.
 */
export function insertReplays(batch: ReplayBatch): Query<{ count: number; last: string | null }> {
  const { workspaceId, endpointId, from, below, only, ids, now } = batch
  return {
    name: `insert_${only}_replays`,
    text: `with source as (
        select d.id, d.mode, d.event_id, d.event_type, row_number() over (order by d.id) as number from (
          select id, mode, event_id, event_type from deliveries o
          where workspace_id = $1 and endpoint_id = $2 and id >= $3 and id < $4 and trigger = 'event'
            and ${REPLAYED[only]}
          order by id limit cardinality($5::text[])
        ) d
      ), inserted as (
        insert into deliveries
          (workspace_id, id, mode, endpoint_id, event_id, event_type, trigger, status, next_attempt_at, created_at)
        select $1, ids.id, s.mode, $2, s.event_id, s.event_type, 'replay', 'pending', $6, $6
        from source s join unnest($5::text[]) with ordinality as ids (id, number) on ids.number = s.number
      )
      select count(*)::integer as count, max(id) as last from source`,
    values: [workspaceId, endpointId, from, below, ids, now],
    read: one({ count: computed.int4, last: nullable(computed.text) }, ({ count, last }) => ({ count, last })),
  }
}

export function toDelivery(row: RowOf<typeof DELIVERY_ROW>): Delivery {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    mode: row.mode,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    trigger: row.trigger,
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}

function toAttempt(row: RowOf<typeof ATTEMPT_ROW>): DeliveryAttempt {
  return {
    number: row.number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    statusCode: row.status_code,
    error: row.error,
    responseBody: row.response_body,
  }
}
