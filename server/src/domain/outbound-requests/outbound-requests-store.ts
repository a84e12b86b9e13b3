import { changed, countChanged, type Query } from '../../db/query.ts'
import { OUTBOUND_KEPT_MAX, type OutboundRequestRow } from './outbound-request.ts'

/**
 * Inserts rows of requests. For each row that a workspace has too many, deletes its oldest one. The rows of
 * `outbound_counts` are locked in the order of their keys, so that no two statements wait for each other. Uses primary
 * keys.
 */
export function insertOutboundRequests(requests: readonly OutboundRequestRow[]): Query<boolean> {
  return {
    name: 'insert_outbound_requests',
    text: `with sent as (
        select workspace_id, mode, credential_id, host, method, status, response_bytes, sent_at,
          row_number() over (partition by workspace_id order by position) as place,
          count(*) over (partition by workspace_id) as together
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::integer[],
            $8::timestamptz[]) with ordinality
          as r (workspace_id, mode, credential_id, host, method, status, response_bytes, sent_at, position)
      ), counted as (
        insert into outbound_counts as c (workspace_id, requests)
        select workspace_id, count(*) from sent group by workspace_id order by workspace_id
        on conflict (workspace_id) do update set requests = c.requests + excluded.requests
        returning c.workspace_id, c.requests
      ), dropped as (
        delete from outbound_requests o using counted c
        where o.workspace_id = c.workspace_id and o.number <= c.requests - $9::bigint
      )
      insert into outbound_requests
        (workspace_id, number, mode, credential_id, host, method, status, response_bytes, sent_at)
      select workspace_id, c.requests - s.together + s.place, s.mode, s.credential_id, s.host, s.method, s.status,
        s.response_bytes, s.sent_at
      from sent s join counted c using (workspace_id)`,
    values: [
      requests.map(({ source }) => source?.workspaceId ?? ''),
      requests.map(({ source }) => source?.mode ?? null),
      requests.map(({ source }) => source?.credentialId ?? null),
      requests.map(({ host }) => host),
      requests.map(({ method }) => method),
      requests.map(({ status }) => status),
      requests.map(({ responseBytes }) => responseBytes),
      requests.map(({ sentAt }) => sentAt),
      OUTBOUND_KEPT_MAX,
    ],
    read: changed,
  }
}

/** Deletes rows of requests that were sent before this time, the oldest first. Uses `outbound_requests_by_time`. */
export function deleteOldOutboundRequests(before: Date, limit: number): Query<number> {
  return {
    name: 'delete_old_outbound_requests',
    text: `delete from outbound_requests where (workspace_id, number) in (
        select workspace_id, number from outbound_requests where sent_at <= $1 order by sent_at limit $2)`,
    values: [before, limit],
    read: countChanged,
  }
}
