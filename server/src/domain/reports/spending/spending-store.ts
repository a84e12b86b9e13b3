import { textOfMode } from '../../../db/bounded-scan-query.ts'
import { computed, narrow, nullable } from '../../../db/column.ts'
import { all, one, type Query } from '../../../db/query.ts'
import type { Mode } from '../../../values/mode.ts'
import { REFUSALS_KEPT_MAX } from '../../refusals/refusal.ts'
import type { SpendingBy } from './spending.ts'

export interface SpendingRange {
  readonly workspaceId: string
  readonly mode: Mode
  /**
   * The start and the end of the period before, then the start of each bar, then the end of the last bar, in order. The
   * period before may end earlier than the first bar begins.
   */
  readonly boundaries: readonly Date[]
  /** The full hours in which a boundary lies that is not at their start. Their sums are not read, but their payments. */
  readonly splitHours: readonly Date[]
  /** Ranges of ids of payments that are read one by one: `from` is included, and `below` is not. */
  readonly unsummed: readonly { readonly from: string; readonly below: string }[]
  /** Sums of earlier hours may have been deleted, so they are not read. */
  readonly sumsFrom: Date
  /** Only payments from this id on are read. There need not be a payment with this id. */
  readonly from: string
  /** Only payments with lower ids are read. There need not be a payment with this id. */
  readonly below: string
  readonly by: SpendingBy
  /** The agent that comes first in the chart, whatever it spent. Null if the agents that spent most come first. */
  readonly agentId: string | null
  readonly agentsMax: number
  readonly rowsMax: number
  readonly paymentsMax: number
}

/** One sum of the statement. */
export interface SpendingSum {
  /**
   * `bar`: what one agent spent in one bar, with `name` null for all agents that are not shown. `withdrawal`: what was
   * withdrawn in one bar. `row`: what was spent under one name. `claimed_row`: the same, for a website that is only a
   * claim. `read`: how many payments were read one by one, in `confirmed`.
   */
  readonly kind: 'bar' | 'withdrawal' | 'row' | 'claimed_row' | 'read'
  readonly name: string | null
  readonly label: string | null
  /** The number of the agent among all agents of the workspace, in the order in which they were created, from 1. */
  readonly agentNumber: number | null
  /** 1 for the period before. From 3 on, the bars of the period, or 3 for the whole period in a `row`. */
  readonly bucket: number
  readonly spentMicro: bigint
  readonly pendingMicro: bigint
  readonly confirmed: number
  readonly pending: number
  readonly failed: number
  /** How many names the sum adds up. */
  readonly names: number
}

const SUM_ROW = {
  kind: narrow<SpendingSum['kind']>(computed.text),
  name: nullable(computed.text),
  label: nullable(computed.text),
  agent_number: nullable(computed.int8),
  bucket: computed.int4,
  spent: computed.numeric,
  pending_spent: computed.numeric,
  confirmed: computed.numeric,
  pending: computed.numeric,
  failed: computed.numeric,
  names: computed.int8,
}

/** How many agents are read at most to find the numbers of the shown ones. The colours repeat long before. */
const NUMBERED_AGENTS_MAX = 10_000

const SUMS =
  'sum(spent) as spent, sum(pending_spent) as pending_spent, sum(confirmed) as confirmed, sum(pending) as pending, sum(failed) as failed'

const spendingText = textOfMode(
  'sum_spending',
  (mode) => `with unsummed as materialized (
      select greatest($6, (
        select below_id from hourly_sums where workspace_id = $1 and mode = ${mode} and part = 'all'
        order by hour desc limit 1
      )) as from_id
    ), ranges as materialized (
      select r.from_id, least(r.below_id, u.from_id) as below_id
      from unsummed u cross join unnest($4::text[], $5::text[]) r (from_id, below_id)
      union all
      select from_id, $7 from unsummed
    ), loose as materialized (
      select grouping(agent_id) as is_not_agent, grouping(name) as is_not_name, agent_id, name, is_claimed, bucket,
        coalesce(sum(amount_micro) filter (where status <> 'failed'), 0) as spent,
        coalesce(sum(amount_micro) filter (where status = 'pending'), 0) as pending_spent,
        count(*) filter (where status = 'confirmed') as confirmed, count(*) filter (where status = 'pending') as pending,
        count(*) filter (where status = 'failed') as failed, count(*) as payments
      from (
        select p.agent_id, p.status, p.amount_micro, coalesce(b.is_claimed, false) as is_claimed,
          width_bucket(p.created_at, $2::timestamptz[]) as bucket,
          case when p.agent_id is not null then
            case $8 when 'wallet' then p.wallet_address when 'recipient' then p.to_address when 'host' then b.host end
          end as name
        from ranges r
        cross join lateral (
          select id, kind, agent_id, wallet_address, to_address, status, amount_micro, created_at from payments
          where workspace_id = $1 and mode = ${mode} and id >= r.from_id and id < r.below_id order by id limit $13
        ) p
        left join lateral (
          select host, payment_id, delivery is null as is_claimed from purchases
          where workspace_id = $1 and payment_id >= p.id and p.kind = 'x402' and 'host' = $8
          order by payment_id limit 1
        ) b on b.payment_id = p.id
        limit $13
      ) read
      group by grouping sets ((agent_id, bucket), (name, is_claimed, bucket), ())
    ), parts as materialized (
      select part, name, width_bucket(hour, $2::timestamptz[]) as bucket, sum(spent_micro) as spent,
        0::numeric as pending_spent, sum(confirmed) as confirmed, 0 as pending, sum(failed) as failed
      from hourly_sums
      where workspace_id = $1 and mode = ${mode} and part = any(array['agent', 'withdrawal', $8, 'claimed_' || $8])
        and hour >= $9 and hour < $10 and hour <> all($3::timestamptz[])
      group by 1, 2, 3
      union all
      select case when is_not_agent = 0 and agent_id is null then 'withdrawal' when is_not_agent = 0 then 'agent'
          when is_claimed then 'claimed_' || $8 else $8 end,
        case when is_not_agent = 0 then coalesce(agent_id, '') else name end,
        bucket, spent, pending_spent, confirmed, pending, failed
      from loose where is_not_agent = 0 or is_not_name = 0 and name is not null
    ), done as materialized (
      select part, name, bucket, ${SUMS} from parts
      where bucket = 1 or bucket >= 3 and bucket < cardinality($2::timestamptz[]) group by part, name, bucket
    ), ranked as materialized (
      select part, name, bucket, spent, pending_spent, confirmed, pending, failed, dense_rank() over (
          partition by part = 'agent', part = 'withdrawal'
          order by name is distinct from $14, now_spent desc nulls last, all_spent desc, name, part
        ) as rank
      from (
        select *, sum(spent) filter (where bucket >= 3) over named as now_spent, sum(spent) over named as all_spent
        from done window named as (partition by part, name)
      ) d
    ), bars as materialized (
      select case when rank <= $11 then name end as name, bucket, ${SUMS}, count(distinct name) as names
      from ranked where part = 'agent' group by 1, 2
    ), numbered as materialized (
      select id, number from (
        select id, row_number() over (order by created_at, id) as number from (
          select id, created_at from agents where workspace_id = $1 and mode = ${mode} order by id limit ${NUMBERED_AGENTS_MAX}
        ) first
      ) every
      where id in (select name from bars)
    ), rows as materialized (
      select case when part like 'claimed%' and rank <= $12 then 'claimed_row' else 'row' end as kind,
        case when rank <= $12 then name end as name, least(bucket, 3) as bucket, ${SUMS}, count(distinct name) as names
      from ranked where part in ($8, 'claimed_' || $8) group by 1, 2, 3
    )
    select 'bar' as kind, b.name, null as label, n.number as agent_number, b.bucket, b.spent, b.pending_spent,
      b.confirmed, b.pending, b.failed, b.names
    from bars b left join numbered n on n.id = b.name
    union all
    select 'withdrawal', null, null, null, bucket, spent, pending_spent, confirmed, pending, failed, 0
    from done where part = 'withdrawal'
    union all
    select r.kind, r.name, coalesce(w.name, p.label), null, r.bucket, r.spent, r.pending_spent, r.confirmed, r.pending,
      r.failed, r.names
    from rows r
    left join wallets w on $8 = 'wallet' and w.workspace_id = $1 and w.mode = ${mode} and w.address = r.name
    left join recipients p on $8 = 'recipient' and p.workspace_id = $1 and p.mode = ${mode} and p.address = r.name
    union all
    select 'read', null, null, null, 0, 0, 0, payments, 0, 0, 0
    from loose where is_not_agent = 1 and is_not_name = 1`,
)

/**
 * Sums what was spent, by agent and bar, and by one of agent, recipient, wallet and website; and what was withdrawn.
 * Reads the sums of whole hours with their primary key. Reads the payments that are in none of these sums, each once,
 * with the index `payments_listed`, and their purchases with the primary key. Returns few rows, however many names
 * there are.
 */
export function sumSpending(range: SpendingRange): Query<SpendingSum[]> {
  const { workspaceId, mode, boundaries, splitHours, unsummed, sumsFrom, from, below, by, agentId } = range
  return {
    ...spendingText(mode),
    values: [
      ...[workspaceId, boundaries, splitHours, unsummed.map((part) => part.from), unsummed.map((part) => part.below)],
      ...[from, below, by, sumsFrom, boundaries.at(-1), range.agentsMax, range.rowsMax, range.paymentsMax, agentId],
    ],
    read: all(SUM_ROW, (row) => ({
      kind: row.kind,
      name: row.name,
      label: row.label,
      agentNumber: row.agent_number === null ? null : Number(row.agent_number),
      bucket: row.bucket,
      spentMicro: BigInt(row.spent),
      pendingMicro: BigInt(row.pending_spent),
      confirmed: Number(row.confirmed),
      pending: Number(row.pending),
      failed: Number(row.failed),
      names: Number(row.names),
    })),
  }
}

const refusalsText = textOfMode(
  'count_payment_refusals',
  (mode) =>
    `select count(*) as refusals from (
      select id from payment_refusals where workspace_id = $1 and mode = ${mode} and id >= $2 and id < $3
        and ($5::text is null or agent_id = $5)
      order by id desc limit $4
    ) newest`,
)

/**
 * Counts the refusals with ids from `from` up to but not including `below`, of one agent or of all. Counts at most
 * `REFUSALS_KEPT_MAX`, because no more are kept. Uses the index `payment_refusals_listed`.
 */
export function countRefusals(
  {
    workspaceId,
    mode,
    agentId,
  }: { readonly workspaceId: string; readonly mode: Mode; readonly agentId: string | null },
  from: string,
  below: string,
): Query<number> {
  return {
    ...refusalsText(mode),
    values: [workspaceId, from, below, REFUSALS_KEPT_MAX, agentId],
    read: one({ refusals: computed.int8 }, (row) => Number(row.refusals)),
  }
}
