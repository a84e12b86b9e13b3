import { textOfMode } from '../../db/bounded-scan-query.ts'
import { computed, nullable } from '../../db/column.ts'
import { all, one, type Query } from '../../db/query.ts'
import type { Mode } from '../../values/mode.ts'
import type { HostSpend } from './host-spend.ts'

const undeliveredText = textOfMode(
  'count_undelivered_purchases',
  (mode) => `select count(*) as undelivered from (
      select payment_id, delivery from purchases
      where workspace_id = $1 and mode = ${mode} and delivery in ('failed', 'unknown') and resolved_at is null
        and payment_id >= $2
      order by payment_id desc limit $3
    ) newest
    cross join lateral (
      select status, valid_before from payments where workspace_id = $1 and id = newest.payment_id offset 0
    ) p
    where p.status = 'confirmed' and (newest.delivery = 'failed' or p.valid_before <= $4)`,
)

/**
 * Counts the purchases that are paid, not delivered at the time `now` (D70a) and not resolved, and whose ids are `from` or higher.
 * Reads at most `rowsMax` purchases without delivery, the newest first, whether they were paid or not. Uses
 * `purchases_undelivered`, and the primary key of the payments.
 */
export function countUndelivered(
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  { from, rowsMax, now }: { readonly from: string; readonly rowsMax: number; readonly now: Date },
): Query<number> {
  return {
    ...undeliveredText(mode),
    values: [workspaceId, from, rowsMax, now],
    read: one({ undelivered: computed.int8 }, (row) => Number(row.undelivered)),
  }
}

const SPEND_ROW = {
  host: nullable(computed.text),
  is_claimed: nullable(computed.bool),
  confirmed: computed.numeric,
  pending: computed.numeric,
  purchases: computed.numeric,
  hosts: computed.int8,
}

const spendText = textOfMode(
  'sum_spend_by_host',
  (mode) => `with ended as materialized (
      select greatest($2, (
        select hour + interval '1 hour' from hourly_payment_sums where workspace_id = $1 and mode = ${mode}
        order by hour desc limit 1
      )) as at
    ), parts as materialized (
      select host, is_claimed, sum(spent_micro) as confirmed, 0 as pending, sum(purchases) as purchases
      from hourly_host_sums
      where workspace_id = $1 and mode = ${mode} and hour >= $2 and hour < (select at from ended) group by 1, 2
      union all
      select made.host, made.delivery is null, coalesce(sum(p.amount_micro) filter (where p.status = 'confirmed'), 0) as confirmed,
        coalesce(sum(p.amount_micro) filter (where p.status = 'pending'), 0) as pending, count(*) as purchases
      from purchases made
      cross join lateral (
        select amount_micro, status from payments
        where workspace_id = $1 and id = made.payment_id and status <> 'failed' offset 0
      ) p
      where made.workspace_id = $1 and made.mode = ${mode} and made.created_at >= (select at from ended)
      group by 1, 2
    ), spent as materialized (
      select host, is_claimed, sum(confirmed) as confirmed, sum(pending) as pending, sum(purchases) as purchases
      from parts group by 1, 2
    ), ranked as (
      select *, row_number() over (order by confirmed + pending desc, host, is_claimed) as rank from spent
    )
    select case when rank <= $3 then host end as host, case when rank <= $3 then is_claimed end as is_claimed,
      sum(confirmed) as confirmed, sum(pending) as pending,
      sum(purchases) as purchases, count(*) as hosts
    from ranked group by 1, 2 order by min(rank)`,
)

/**
 * Sums what was spent on each host since a full hour, the highest sum first. The hosts after the first `hostsMax` are
 * added up in one row, in which the host is null. A host has two sums if agents fetched some resources themselves. Reads the sums of hours with their primary key. Reads each purchase
 * that is in no sum once, by `purchases_by_time`, and its payment by the primary key.
 */
export function sumSpendByHost(
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  { since, hostsMax }: { readonly since: Date; readonly hostsMax: number },
): Query<HostSpend[]> {
  return {
    ...spendText(mode),
    values: [workspaceId, since, hostsMax],
    read: all(SPEND_ROW, ({ host, is_claimed: isClaimed, confirmed, pending, purchases, hosts }) => ({
      host,
      isClaimed: isClaimed ?? false,
      confirmedMicro: BigInt(confirmed),
      pendingMicro: BigInt(pending),
      purchases: Number(purchases),
      hosts: Number(hosts),
    })),
  }
}
