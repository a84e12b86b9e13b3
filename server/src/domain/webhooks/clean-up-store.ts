import { pick } from '../../db/column.ts'
import { all, countChanged, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { giveBackText } from '../stored-bytes/stored-bytes-store.ts'
import { KEY_ROW, toKey, type EndpointKey } from './queue-store.ts'

const { webhook_endpoints: endpoints } = tables

/**
 * Lists endpoints with pending deliveries that must be canceled. These are all pending deliveries of a deleted
 * endpoint, and the pending deliveries of a disabled endpoint that were due before `before`. Uses
 * `webhook_endpoints_stopped` and `deliveries_due`.
 */
export function listStoppedQueues(before: Date, limit: number): Query<(EndpointKey & { deletedAt: Date | null })[]> {
  return {
    name: 'list_stopped_queues',
    text: `select e.workspace_id, e.id, e.deleted_at from webhook_endpoints e cross join lateral (
        select from deliveries
        where workspace_id = e.workspace_id and endpoint_id = e.id and status = 'pending'
          and next_attempt_at <= case when e.deleted_at is null then $1::timestamptz else 'infinity' end
        limit 1
      ) waiting
      where e.deleted_at is not null or e.disabled_at is not null limit $2`,
    values: [before, limit],
    read: all(pick(endpoints, 'workspace_id', 'id', 'deleted_at'), (row) => ({
      ...toKey(row),
      deletedAt: row.deleted_at,
    })),
  }
}

/**
 * Cancels about `limit` of an endpoint's oldest pending deliveries. If `dueBefore` is given, cancels only those due
 * before it. Returns how many were canceled. Uses the index `deliveries_due`.
 */
export function cancelDeliveries(
  endpoint: EndpointKey,
  { now, dueBefore }: { now: Date; dueBefore: Date | null },
  limit: number,
): Query<number> {
  return {
    name: 'cancel_deliveries',
    text: `update deliveries set status = 'canceled', next_attempt_at = null, leased_until = null, finished_at = $3
      where workspace_id = $1 and endpoint_id = $2 and status = 'pending' and next_attempt_at <= least($4::timestamptz, (
        select next_attempt_at from deliveries where workspace_id = $1 and endpoint_id = $2 and status = 'pending'
        order by next_attempt_at offset $5 limit 1
      ), 'infinity')`,
    values: [endpoint.workspaceId, endpoint.id, now, dueBefore, limit - 1],
    read: countChanged,
  }
}

/**
 * Deletes about `limit` of the oldest deliveries that finished before a time, with their attempts. Returns how many
 * deliveries were deleted, and gives back the bytes of their responses. Uses the index `deliveries_finished` and primary
 * keys.
 */
export function deleteFinishedDeliveries(before: Date, limit: number): Query<number> {
  return {
    name: 'delete_finished_deliveries',
    text: `with deleted as (
        delete from deliveries where finished_at <= $1 and finished_at <= coalesce((
          select finished_at from deliveries where finished_at is not null order by finished_at offset $2 limit 1
        ), 'infinity')
        returning workspace_id, id
      ), freed as (
        select a.workspace_id, a.mode, a.response_bytes as bytes from deleted d cross join lateral (
          select workspace_id, mode, response_bytes from delivery_attempts
          where workspace_id = d.workspace_id and delivery_id = d.id and response_bytes > 0 for update
        ) a
      ), ${giveBackText('responses', 'freed')}
      select from deleted`,
    values: [before, limit - 1],
    read: countChanged,
  }
}

/**
 * Lists endpoints that were marked as deleted before a time and have no deliveries left. Uses the index
 * `webhook_endpoints_stopped`.
 */
export function listEmptyEndpoints(before: Date, limit: number): Query<EndpointKey[]> {
  return {
    name: 'list_empty_webhook_endpoints',
    text: `select e.workspace_id, e.id from webhook_endpoints e cross join lateral (
        select count(*) from (
          select from deliveries where workspace_id = e.workspace_id and endpoint_id = e.id limit 1
        ) one
      ) kept
      where (e.deleted_at is not null or e.disabled_at is not null) and e.deleted_at <= $1 and kept.count = 0 limit $2`,
    values: [before, limit],
    read: all(KEY_ROW, toKey),
  }
}
