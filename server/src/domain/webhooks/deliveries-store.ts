import { all, changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Mode } from '../../values/mode.ts'
import type { DomainEvent } from '../events/event.ts'
import type { Delivery, DeliveryAttempt, DeliveryStatus } from './delivery.ts'

export const DELIVERY_COLUMNS = `account_id, id, mode, endpoint_id, event_id, event_type, trigger, status, attempts,
  next_attempt_at, created_at, finished_at`

/** What a log is narrowed to; null: all. Ids, or what sorts among them: from `from` on, below `below`. */
export interface LogFilter {
  readonly endpointId: string | null
  readonly eventId: string | null
  readonly eventType: string | null
  readonly status: DeliveryStatus | null
  readonly from: string
  readonly below: string
}

/** A delivery for each endpoint that wants the event now; answers how many. By `webhook_endpoints_listed`. */
export function insertDeliveries({ accountId, id, mode, type, createdAt }: DomainEvent): Query<number> {
  return {
    name: 'insert_deliveries',
    text: `insert into deliveries
        (account_id, id, mode, endpoint_id, event_id, event_type, trigger, status, next_attempt_at, created_at)
      select account_id, 'dlv_' || substr($2, 5) || '_' || substr(id, 5), mode, id, $2, $4, 'event', 'pending', $5, $5
      from webhook_endpoints
      where account_id = $1 and mode = $3 and deleted_at is null and disabled_at is null and $4 = any (events)`,
    values: [accountId, id, mode, type, createdAt],
    read: (_rows, count) => count,
  }
}

export function insertDelivery(delivery: Delivery): Query<boolean> {
  const { accountId, id, mode, endpointId, eventId, eventType, trigger, status, nextAttemptAt, createdAt } = delivery
  return {
    name: 'insert_delivery',
    text: `insert into deliveries
        (account_id, id, mode, endpoint_id, event_id, event_type, trigger, status, next_attempt_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [accountId, id, mode, endpointId, eventId, eventType, trigger, status, nextAttemptAt, createdAt],
    read: changed,
  }
}

/** By the primary key. */
export function findDelivery(accountId: string, id: string): Query<Delivery | null> {
  return {
    name: 'find_delivery',
    text: `select ${DELIVERY_COLUMNS} from deliveries where account_id = $1 and id = $2`,
    values: [accountId, id],
    read: firstOrNull(toDelivery),
  }
}

/** In their order, by the primary key. */
export function listAttempts(accountId: string, deliveryId: string): Query<DeliveryAttempt[]> {
  return {
    name: 'list_delivery_attempts',
    text: `select number, started_at, duration_ms, status_code, error, response_body from delivery_attempts
      where account_id = $1 and delivery_id = $2 order by number`,
    values: [accountId, deliveryId],
    read: all(toAttempt),
  }
}

/**
 * Newest first. That of an event by `deliveries_of_event`; all others endpoint by endpoint and merged, by
 * `deliveries_failed` or `deliveries_of_endpoint`. Deleted endpoints' deliveries are there as long as they are kept.
 */
export function listDeliveryRows(accountId: string, mode: Mode, filter: LogFilter, limit: number): Query<Delivery[]> {
  const { endpointId, eventId, eventType, status, from, below } = filter
  const kind = eventId !== null ? 'event' : status === 'failed' ? 'failed' : 'all'
  return {
    name: `list_deliveries_${kind}`,
    text: LOG_TEXTS[kind],
    values: [accountId, mode, endpointId, eventId, eventType, status, from, below, limit],
    read: all(toDelivery),
  }
}

const LOG_CONDITIONS = `id >= $7 and id < $8 and ($4::text is null or event_id = $4)
  and ($5::text is null or event_type = $5) and ($6::text is null or status = $6)`

function mergedLog(condition: string): string {
  return `select d.* from webhook_endpoints e cross join lateral (
      select ${DELIVERY_COLUMNS} from deliveries
      where account_id = e.account_id and endpoint_id = e.id and ${LOG_CONDITIONS} and ${condition}
      order by id desc limit $9
    ) d
    where e.account_id = $1 and e.mode = $2 and ($3::text is null or e.id = $3) order by d.id desc limit $9`
}

const LOG_TEXTS = {
  all: mergedLog('true'),
  failed: mergedLog("status = 'failed'"),
  // All of the event's are few: they are found first, and narrowed then.
  event: `with of_event as materialized (
      select ${DELIVERY_COLUMNS} from deliveries where account_id = $1 and event_id = $4
    )
    select * from of_event where mode = $2 and ($3::text is null or endpoint_id = $3) and ${LOG_CONDITIONS}
    order by id desc limit $9`,
} as const

/** Whether replays of an endpoint are queued or under way. By `deliveries_replays_pending`. */
export function hasPendingReplays(accountId: string, endpointId: string): Query<boolean> {
  return {
    name: 'has_pending_replays',
    text: `select 1 from deliveries
      where account_id = $1 and endpoint_id = $2 and status = 'pending' and trigger = 'replay' limit 1`,
    values: [accountId, endpointId],
    read: (rows) => rows.length > 0,
  }
}

export interface ReplayBatch {
  readonly accountId: string
  readonly endpointId: string
  /** Ids of deliveries, or what sorts among them: from `from` on, below `below`. */
  readonly from: string
  readonly below: string
  readonly only: 'failed' | 'all'
  /** The replays' own ids: so many at the most. */
  readonly ids: readonly string[]
  readonly now: Date
}

/** `failed` is told by a constant, so that the walk is of `deliveries_failed`. */
const REPLAYED = {
  all: "status <> 'pending'",
  failed: `status = 'failed' and (
              select count(*) from deliveries r
              where r.account_id = $1 and r.event_id = o.event_id and r.endpoint_id = $2 and r.trigger = 'replay'
                and r.status = 'succeeded') = 0`,
} as const satisfies Record<ReplayBatch['only'], string>

/**
 * Replays what events themselves have made, oldest first; `failed` leaves out what a replay has brought since. Answers
 * how many, and the last one that was replayed. By `deliveries_of_endpoint` or `deliveries_failed`, and
 * `deliveries_of_event`.
 */
export function insertReplays(batch: ReplayBatch): Query<{ count: number; last: string | null }> {
  const { accountId, endpointId, from, below, only, ids, now } = batch
  return {
    name: `insert_${only}_replays`,
    text: `with source as (
        select d.id, d.mode, d.event_id, d.event_type, row_number() over (order by d.id) as number from (
          select id, mode, event_id, event_type from deliveries o
          where account_id = $1 and endpoint_id = $2 and id >= $3 and id < $4 and trigger = 'event'
            and ${REPLAYED[only]}
          order by id limit cardinality($5::text[])
        ) d
      ), inserted as (
        insert into deliveries
          (account_id, id, mode, endpoint_id, event_id, event_type, trigger, status, next_attempt_at, created_at)
        select $1, ids.id, s.mode, $2, s.event_id, s.event_type, 'replay', 'pending', $6, $6
        from source s join unnest($5::text[]) with ordinality as ids (id, number) on ids.number = s.number
      )
      select count(*)::integer as count, max(id) as last from source`,
    values: [accountId, endpointId, from, below, ids, now],
    read: (rows) => ({ count: rows[0]?.['count'] ?? 0, last: rows[0]?.['last'] ?? null }),
  }
}

export function toDelivery(row: Row): Delivery {
  return {
    accountId: row['account_id'],
    id: row['id'],
    mode: row['mode'],
    endpointId: row['endpoint_id'],
    eventId: row['event_id'],
    eventType: row['event_type'],
    trigger: row['trigger'],
    status: row['status'],
    attempts: row['attempts'],
    nextAttemptAt: row['next_attempt_at'],
    createdAt: row['created_at'],
    finishedAt: row['finished_at'],
  }
}

function toAttempt(row: Row): DeliveryAttempt {
  return {
    number: row['number'],
    startedAt: row['started_at'],
    durationMs: row['duration_ms'],
    statusCode: row['status_code'],
    error: row['error'],
    responseBody: row['response_body'],
  }
}
