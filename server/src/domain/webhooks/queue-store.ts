import { computed, nullable, pick, type RowOf } from '../../db/column.ts'
import { all, changed, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { ClaimedDelivery, Delivery } from './delivery.ts'
import { DELIVERY_COLUMNS, DELIVERY_ROW, toDelivery } from './deliveries-store.ts'
import { FREE_PER_HELD, shareOf, type Places } from './places.ts'

const { workspaces, webhook_endpoints: endpoints } = tables

export const KEY_ROW = pick(endpoints, 'workspace_id', 'id')

const LOCKED_ROW = { workspace_id: computed.text, id: computed.text, is_last: computed.bool }

const DUE_ROW = {
  ...DELIVERY_ROW,
  ...pick(endpoints, 'url', 'secret_sealed'),
  previous_sealed: nullable(computed.bytea),
  event_created_at: tables.events.created_at,
  data_text: tables.events.data_text,
  slug: workspaces.slug,
  holder: computed.text,
}

export interface EndpointKey {
  readonly workspaceId: string
  readonly id: string
}

/** A due delivery, with the stored data that its attempt needs. The secrets are still encrypted. */
export interface DueRow {
  readonly delivery: Delivery
  readonly url: string
  readonly secretSealed: Buffer
  /** Null unless the secret was rotated within the last 24 hours. */
  readonly previousSecretSealed: Buffer | null
  readonly eventCreatedAt: Date
  readonly dataText: string
  readonly workspaceSlug: string
  readonly holder: string
}

/**
 * The commit of this transaction does not wait for the disk. A power failure may undo it, together with every later
 * commit that did not wait either.
 */
export const COMMIT_RELAXED: Query<null> = {
  name: 'commit_relaxed',
  text: 'set local synchronous_commit = off',
  values: [],
  read: () => null,
}

/**
 * The limits of one claim. A sender has two pools of places: one for hanging endpoints, and one for all others. Each
 * claim is for one pool.
 */
export interface ClaimBounds {
  readonly now: Date
  /** Whether the claim is for hanging endpoints. */
  readonly hangs: boolean
  /** How many deliveries to one endpoint may be in flight, in all processes together. */
  readonly inFlightMax: number
  readonly limit: number
  readonly places: Places
}

/**
 * Returns false if certainly no delivery is due. Locks nothing. Returns true if the first delivery of an endpoint is
 * due, whether or not the endpoint is enabled, and if more than `hopsMax` endpoints have pending deliveries. The
 * statement hops through the index `deliveries_due` from one endpoint to the next.
 */
export function mayHaveDue(now: Date, hopsMax: number): Query<boolean> {
  return {
    name: 'may_have_due_deliveries',
    text: `with recursive hop (workspace_id, endpoint_id, first_at, hops) as (
        select '', '', null::timestamptz, 0
        union all
        select n.workspace_id, n.endpoint_id, n.next_attempt_at, hop.hops + 1
        from hop cross join lateral (
          select workspace_id, endpoint_id, next_attempt_at from deliveries
          where status = 'pending' and (workspace_id, endpoint_id) > (hop.workspace_id, hop.endpoint_id)
            and (leased_until is null or leased_until <= $1)
          order by workspace_id, endpoint_id, next_attempt_at limit 1
        ) n
        where hop.hops <= $2 and (hop.first_at is null or hop.first_at > $1)
      )
      select from hop where first_at <= $1 or hops > $2 limit 1`,
    values: [now, hopsMax],
    read: changed,
  }
}

/** The holder of a workspace: the person who created it, or else the workspace itself (D91). Uses the primary key. */
function holderOf(workspaceId: string): string {
  return `(select coalesce(created_by, id) from workspaces where id = ${workspaceId})`
}

/** Sorts after every endpoint id, because endpoint ids begin with `whk_`. */
const BEHIND_ENDPOINTS = 'whl'

/**
 * Locks and returns enabled endpoints that have due deliveries, and fewer than `inFlightMax` deliveries in flight.
 * Holders take turns. So do the workspaces of a holder. Within a workspace, endpoints with the fewest deliveries in
 * flight come first. Skips endpoints that another transaction has locked.
 *
 * The statement hops through the index `deliveries_due` from one endpoint to the next, and skips a workspace whose
 * holder already has the whole share. It begins after `start`. When it reaches the end of the index, it continues at the
 * beginning. It makes at most `hopsMax` hops, and returns the last endpoint that it examined. If the next claim starts
 * there, every endpoint has its turn, however many endpoints come before it.
 */
export function lockDueEndpoints(
  { now, hangs, inFlightMax, limit, places }: ClaimBounds,
  { start, hopsMax }: { start: EndpointKey; hopsMax: number },
): Query<{ endpoints: EndpointKey[]; last: EndpointKey }> {
  return {
    name: 'lock_due_endpoints',
    text: `with recursive hop (workspace_id, endpoint_id, first_at, holder, is_around, hops) as (
        select $1::text, $6::text, null::timestamptz, null::text, false, 0
        union all
        select coalesce(n.workspace_id, ''), coalesce(n.endpoint_id, ''), n.next_attempt_at,
          ${holderOf('n.workspace_id')},
          hop.is_around or n.workspace_id is null, hop.hops + 1
        from hop left join lateral (
          select workspace_id, endpoint_id, next_attempt_at from deliveries
          where status = 'pending' and (workspace_id, endpoint_id) > (hop.workspace_id,
              case when ($7::jsonb ->> hop.holder)::integer >= $8 then '${BEHIND_ENDPOINTS}' else hop.endpoint_id end)
            and (leased_until is null or leased_until <= $3)
          order by workspace_id, endpoint_id, next_attempt_at limit 1
        ) n on true
        where hop.hops < $2 and not (hop.is_around and (n.workspace_id is null or (n.workspace_id, n.endpoint_id) > ($1, $6)))
      )
      select e.workspace_id, e.id, false as is_last from (
        select workspace_id, endpoint_id, first_at, held
          + row_number() over (partition by holder order by workspace_turn, first_at) as turn
        from (
          select hop.workspace_id, hop.endpoint_id, hop.first_at, hop.holder,
            coalesce(($7::jsonb ->> hop.holder)::integer, 0) as held,
            coalesce(($7::jsonb ->> hop.workspace_id)::integer, 0)
              + row_number() over (partition by hop.workspace_id order by in_flight.count, hop.first_at) as workspace_turn
          from hop
          cross join lateral (
            select from webhook_endpoints
            where workspace_id = hop.workspace_id and id = hop.endpoint_id
              and deleted_at is null and disabled_at is null and hangs = $9
            limit 1
          ) enabled
          cross join lateral (
            select count(*) from deliveries
            where workspace_id = hop.workspace_id and endpoint_id = hop.endpoint_id and leased_until > $3
          ) in_flight
          where hop.first_at <= $3 and in_flight.count < $4
        ) open where held < $8
        order by turn, first_at limit $5
      ) ready cross join lateral (
        select workspace_id, id from webhook_endpoints
        where workspace_id = ready.workspace_id and id = ready.endpoint_id
          and deleted_at is null and disabled_at is null and hangs = $9
        for no key update skip locked
      ) e
      union all
      select workspace_id, endpoint_id, true from (
        select workspace_id, endpoint_id from hop order by hops desc limit 1
      ) last`,
    values: [
      start.workspaceId,
      hopsMax,
      now,
      inFlightMax,
      limit,
      start.id,
      JSON.stringify(Object.fromEntries(places.held)),
      shareOf(places.free),
      hangs,
    ],
    read: rowsOf(LOCKED_ROW, (rows) => ({
      endpoints: rows.filter((row) => !row.is_last).map(toKey),
      last: rows.filter((row) => row.is_last).map(toKey)[0] ?? start,
    })),
  }
}

/**
 * Locks and returns due deliveries of the given endpoints. This transaction must have locked the endpoints, so that the
 * counts of deliveries in flight are exact. Holders take turns, the workspaces of a holder take turns, the endpoints of a
 * workspace take turns, and the deliveries of an endpoint come oldest first. A holder gets at most one share of the free
 * places (`shareOf`). Places that this statement has already assigned do not count as free. Uses `deliveries_leased`,
 * `deliveries_due` and primary keys.
 */
export function lockDueDeliveries(
  { now, inFlightMax, limit, places }: ClaimBounds,
  endpoints: readonly EndpointKey[],
): Query<DueRow[]> {
  return {
    name: 'lock_due_deliveries',
    text: `with queue as materialized (
        select e.workspace_id, e.id, ${holderOf('e.workspace_id')} as holder, (
          select count(*) from deliveries
          where workspace_id = e.workspace_id and endpoint_id = e.id and leased_until > $3
        ) as in_flight
        from unnest($1::text[], $2::text[]) as e (workspace_id, id)
      )
      select due.*, endpoint.*, event.*, workspace.* from (
        select * from (
          select *, row_number() over (order by holder_turn, turn, next_attempt_at) as place from (
            select *, coalesce(($6::jsonb ->> holder)::integer, 0)
              + row_number() over (partition by holder order by workspace_turn, turn, next_attempt_at, id) as holder_turn
            from (
              select *, coalesce(($6::jsonb ->> workspace_id)::integer, 0)
                + row_number() over (partition by workspace_id order by turn, next_attempt_at, id) as workspace_turn
              from (
                select d.*, q.holder,
                  q.in_flight + row_number() over (partition by q.workspace_id, q.id order by d.next_attempt_at, d.id) as turn
                from queue q
                cross join lateral (
                  select ${DELIVERY_COLUMNS} from deliveries
                  where workspace_id = q.workspace_id and endpoint_id = q.id and status = 'pending' and next_attempt_at <= $3
                    and (leased_until is null or leased_until <= $3)
                  order by next_attempt_at limit greatest($4 - q.in_flight, 0)
                  for no key update skip locked
                ) d
              ) of_endpoints
            ) of_workspaces
          ) of_holders
        ) placed
        where holder_turn <= greatest(($7 - place + 1) / ${FREE_PER_HELD}, 1)
        order by place limit $5
      ) due
      cross join lateral (
        select url, secret_sealed, case when previous_secret_until > $3 then previous_secret_sealed end as previous_sealed
        from webhook_endpoints where workspace_id = due.workspace_id and id = due.endpoint_id limit 1
      ) endpoint
      cross join lateral (
        select created_at as event_created_at, data_text
        from events where workspace_id = due.workspace_id and id = due.event_id limit 1
      ) event
      cross join lateral (select slug from workspaces where id = due.workspace_id limit 1) workspace
      order by due.place`,
    values: [
      endpoints.map(({ workspaceId }) => workspaceId),
      endpoints.map(({ id }) => id),
      now,
      inFlightMax,
      limit,
      JSON.stringify(Object.fromEntries(places.held)),
      places.free,
    ],
    read: all(DUE_ROW, toDueRow),
  }
}

/**
 * Leases deliveries of one workspace to a worker. This transaction must have locked the deliveries. Uses the primary
 * key.
 */
export function leaseDeliveries(workspaceId: string, ids: readonly string[], leasedUntil: Date): Query<boolean> {
  return {
    name: 'lease_deliveries',
    text: 'update deliveries set leased_until = $3 where workspace_id = $1 and id = any ($2)',
    values: [workspaceId, ids, leasedUntil],
    read: changed,
  }
}

/**
 * Whether a delivery has the lease `$3`. The expression is written so that no index fits it. With an index, a plan
 * could read all leased deliveries of the workspace.
 */
export const HAS_LEASE = `coalesce(leased_until, '-infinity') = $3`

/** Releases the lease of a delivery, if it is still this worker's lease. Uses the primary key. */
export function releaseDelivery({ delivery, leasedUntil }: ClaimedDelivery): Query<boolean> {
  return {
    name: 'release_delivery',
    text: `update deliveries set leased_until = null where workspace_id = $1 and id = $2 and ${HAS_LEASE}`,
    values: [delivery.workspaceId, delivery.id, leasedUntil],
    read: changed,
  }
}

export function toKey(row: RowOf<typeof KEY_ROW>): EndpointKey {
  return { workspaceId: row.workspace_id, id: row.id }
}

function toDueRow(row: RowOf<typeof DUE_ROW>): DueRow {
  return {
    delivery: toDelivery(row),
    url: row.url,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_sealed,
    eventCreatedAt: row.event_created_at,
    dataText: row.data_text,
    workspaceSlug: row.slug,
    holder: row.holder,
  }
}
