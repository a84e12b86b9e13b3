import { pick } from '../../db/column.ts'
import { countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { DROPPED_BYTES_MAX, DROPPED_FOR_ONE_MAX } from '../stored-bytes/stored-bytes.ts'
import { growText, usedText } from '../stored-bytes/stored-bytes-store.ts'
import type { AttemptOutcome, ClaimedDelivery } from './delivery.ts'
import type { DisabledBecause } from './endpoint.ts'
import { HAS_LEASE } from './queue-store.ts'
import type { NextStep } from './retry-schedule.ts'

const { webhook_endpoints: endpoints } = tables

/*
 * Nearly all attempts succeed, and one statement ends all successes of a batch. A failure has a statement of its own:
 * failures of one endpoint are recorded one after the other, because each may disable it.
 */

/**
 * Ends an attempt, if the delivery still has this worker's lease. Records the attempt and updates the delivery. Updates
 * the endpoint only if its fields change. If this attempt disabled the endpoint, returns the reason, otherwise null.
 * Uses primary keys.
 */
export function finishDelivery(
  claimed: ClaimedDelivery,
  outcome: AttemptOutcome,
  verdict: {
    readonly step: NextStep
    readonly endedAt: Date
    readonly isGone: boolean
    readonly hangs: boolean
    /**
     * The endpoint is disabled if the delivery fails permanently and the endpoint has been failing since this time or
     * earlier.
     */
    readonly failingSinceMax: Date
  },
): Query<DisabledBecause | null> {
  const { delivery, leasedUntil, attemptNumber } = claimed
  const { step, endedAt, isGone, hangs, failingSinceMax } = verdict
  return {
    name: 'finish_delivery',
    text: `with moved as (
        update deliveries set status = $4, attempts = $5, next_attempt_at = $6, leased_until = null,
          finished_at = case when $6::timestamptz is null then $7::timestamptz end
        where workspace_id = $1 and id = $2 and ${HAS_LEASE}
        returning workspace_id, id, endpoint_id
      ), attempt as (
        insert into delivery_attempts
          (workspace_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body)
        select workspace_id, id, $5, $8, $9, $10, $11, $12 from moved
      ), noted as (
        update webhook_endpoints e
        set hangs = $16, failing_since = case when $4 = 'succeeded' then null else coalesce(e.failing_since, $7) end,
          disabled_at = case when $13 or $4 = 'failed' and e.failing_since <= $14 then $7::timestamptz end,
          disabled_because = case
            when $13 then 'gone' when $4 = 'failed' and e.failing_since <= $14 then 'failing' end
        where e.workspace_id = $1 and e.id = (select endpoint_id from moved)
          and e.deleted_at is null and e.disabled_at is null and e.url = $15
          and (e.hangs <> $16 or case when $4 = 'succeeded' then e.failing_since is not null
            else $13 or e.failing_since is null or $4 = 'failed' and e.failing_since <= $14 end)
        returning e.disabled_because
      )
      select disabled_because from noted`,
    values: [
      delivery.workspaceId,
      delivery.id,
      leasedUntil,
      step.status,
      attemptNumber,
      step.nextAttemptAt,
      endedAt,
      outcome.startedAt,
      Math.round(outcome.durationMs),
      outcome.statusCode,
      outcome.error,
      outcome.responseBody,
      isGone,
      failingSinceMax,
      claimed.url,
      hangs,
    ],
    read: firstOrNull(pick(endpoints, 'disabled_because'), (row) => row.disabled_because),
  }
}

export interface Success {
  readonly claimed: ClaimedDelivery
  readonly outcome: AttemptOutcome
  readonly endedAt: Date
  /** Whether the attempt took so long that the endpoint counts as hanging. */
  readonly hangs: boolean
}

/**
 * Ends successful attempts, with the same effect as `finishDelivery` for each of them in their order. Deliveries that
 * no longer have this worker's lease are left out, and endpoints are updated only if their fields change. Uses primary
 * keys. The form of the comparison with the lease keeps the planner from using
 * `deliveries_leased`.
 */
export function finishSuccesses(successes: readonly Success[]): Query<number> {
  return {
    name: 'finish_delivery_successes',
    text: `with moved as (
        update deliveries d set status = 'succeeded', attempts = s.number, next_attempt_at = null, leased_until = null,
          finished_at = s.ended_at
        from unnest($1::text[], $2::text[], $3::timestamptz[], $4::integer[], $5::timestamptz[], $6::timestamptz[],
            $7::integer[], $8::integer[], $9::bytea[], $10::text[], $11::boolean[]) with ordinality
          as s (workspace_id, id, leased_until, number, ended_at, started_at, duration_ms, status_code, response_body, url,
            hangs, place)
        where d.workspace_id = s.workspace_id and d.id = s.id and d.leased_until is not distinct from s.leased_until
        returning d.workspace_id, d.id, d.endpoint_id, s.number, s.started_at, s.duration_ms, s.status_code,
          s.response_body, s.url, s.hangs, s.place
      ), attempt as (
        insert into delivery_attempts
          (workspace_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body)
        select workspace_id, id, number, started_at, duration_ms, status_code, null, response_body from moved
      ), noted as (
        update webhook_endpoints e set hangs = l.hangs, failing_since = null
        from (
          select distinct on (workspace_id, endpoint_id, url) workspace_id, endpoint_id, url, hangs from moved
          order by workspace_id, endpoint_id, url, place desc
        ) l
        where e.workspace_id = l.workspace_id and e.id = l.endpoint_id
          and e.deleted_at is null and e.disabled_at is null and e.url = l.url
          and (e.hangs <> l.hangs or e.failing_since is not null)
      )
      select from moved`,
    values: [
      successes.map(({ claimed }) => claimed.delivery.workspaceId),
      successes.map(({ claimed }) => claimed.delivery.id),
      successes.map(({ claimed }) => claimed.leasedUntil),
      successes.map(({ claimed }) => claimed.attemptNumber),
      successes.map(({ endedAt }) => endedAt),
      successes.map(({ outcome }) => outcome.startedAt),
      successes.map(({ outcome }) => Math.round(outcome.durationMs)),
      successes.map(({ outcome }) => outcome.statusCode),
      successes.map(({ outcome }) => outcome.responseBody),
      successes.map(({ claimed }) => claimed.url),
      successes.map(({ hangs }) => hangs),
    ],
    read: countChanged,
  }
}

/** Responses of receivers that are not longer than this are not counted: the row of the attempt needs as much. */
export const UNCOUNTED_BYTES_MAX = 256

/**
 * Counts the bytes of responses that were recorded before, in the same transaction. If a workspace keeps too many bytes
 * of responses in a mode, the oldest ones go, and their attempts stay (D93). Uses the index `delivery_attempts_kept` and
 * primary keys.
 */
export function countResponses(attempts: readonly ClaimedDelivery[]): Query<number> {
  const place = { workspace: 'k.workspace_id', mode: 'k.mode' }
  return {
    name: 'count_responses',
    text: `with kept as (
        update delivery_attempts a set mode = d.mode, response_bytes = octet_length(a.response_body)
        from unnest($1::text[], $2::text[], $3::integer[]) as r (workspace_id, delivery_id, number)
        join deliveries d on d.workspace_id = r.workspace_id and d.id = r.delivery_id
        where a.workspace_id = r.workspace_id and a.delivery_id = r.delivery_id and a.number = r.number
          and a.response_bytes = 0 and a.response_body is not null
        returning a.workspace_id, a.mode, a.response_bytes as bytes
      ), excess as (
        select k.workspace_id, k.mode, count(*) as responses,
          ${usedText('responses', { ...place, added: 'sum(k.bytes)' })} - ${DROPPED_BYTES_MAX.responses} as bytes
        from kept k group by k.workspace_id, k.mode
      ), oldest as (
        select x.workspace_id, o.delivery_id, o.number, o.bytes from excess x cross join lateral (
          select delivery_id, number, bytes, sum(bytes) over (order by delivery_id, number) - bytes as before from (
            select delivery_id, number, response_bytes as bytes from delivery_attempts
            where workspace_id = x.workspace_id and mode = x.mode and response_bytes > 0 and x.bytes > 0
            order by delivery_id, number limit x.responses * ${DROPPED_FOR_ONE_MAX}
          ) first
        ) o
        where o.before < x.bytes
      ), dropped as (
        update delivery_attempts a set response_body = null, response_bytes = 0 from oldest o
        where a.workspace_id = o.workspace_id and a.delivery_id = o.delivery_id and a.number = o.number
          and a.response_bytes > 0
        returning a.workspace_id, a.mode, o.bytes
      ), ${growText('responses', { grown: 'kept', dropped: 'dropped' })}
      select from kept`,
    values: [
      attempts.map(({ delivery }) => delivery.workspaceId),
      attempts.map(({ delivery }) => delivery.id),
      attempts.map(({ attemptNumber }) => attemptNumber),
    ],
    read: countChanged,
  }
}
