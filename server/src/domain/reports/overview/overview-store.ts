import { computed, narrow, pick, type RowOf } from '../../../db/column.ts'
import { all, one, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import { microUsdc } from '../../../values/money.ts'
import { grantState } from '../../grants/grant-state.ts'
import { REFUSALS_KEPT_MAX } from '../../refusals/refusal.ts'
import { textOfMode } from '../../../db/bounded-scan-query.ts'
import type { CapUse, Steps } from './overview.ts'
import { spentSum, TERMS_OF_GRANT } from '../../grants/spent-window.ts'

const { grants, payments, wallets } = tables

const SPEND_ROW = {
  agent_id: payments.agent_id,
  is_withdrawal: computed.bool,
  bar: computed.int4,
  spent: computed.numeric,
  confirmed: computed.numeric,
  pending: computed.numeric,
  failed: computed.numeric,
}

const CAP_ROW = {
  ...pick(grants, 'id', 'agent_id'),
  wallet_address: narrow<Address>(grants.wallet_address),
  wallet_name: wallets.name,
  ...pick(grants, 'status', 'suspended_at', 'expires_at', 'daily_cap_micro'),
  spent: computed.numeric,
}

const { bool } = computed
const STEPS_ROW = { wallet: bool, deposit: bool, agent: bool, signed: bool, key: bool, payment: bool }

/**
 * The payments of one agent in one bar of the chart. If `agentId` is null, this is the sum of all agents that are not
 * among the top spenders, or of the owners' withdrawals.
 */
export interface SpendRow {
  readonly isWithdrawal: boolean
  readonly agentId: string | null
  /** The index of the bar, starting at 0. */
  readonly bar: number
  readonly spentMicro: bigint
  readonly confirmed: number
  readonly pending: number
  readonly failed: number
}

export interface SpendRange {
  readonly workspaceId: string
  readonly mode: Mode
  /** Only payments with this id or a higher one are summed. There need not be a payment with this id. */
  readonly from: string
  /** Only payments with lower ids than this are summed. There need not be a payment with this id. */
  readonly below: string
  /** When each bar begins. Each begins at a full hour. */
  readonly barStarts: readonly Date[]
  /** When the last bar ends. */
  readonly end: Date
  readonly agentsMax: number
}

const spendText = textOfMode(
  'sum_spend',
  (mode) => `with unsummed as materialized (
      select greatest($2, (
        select below_id from hourly_payment_sums where workspace_id = $1 and mode = ${mode} order by hour desc limit 1
      )) as from_id
    ), parts as materialized (
      select nullif(agent_id, '') as agent_id, width_bucket(hour, $4::timestamptz[]) - 1 as bar, sum(spent_micro) as spent,
        sum(confirmed) as confirmed, 0 as pending, sum(failed) as failed
      from hourly_payment_sums
      where workspace_id = $1 and mode = ${mode} and hour >= ($4::timestamptz[])[1] and hour < $6
      group by 1, 2
      union all
      select agent_id, width_bucket(created_at, $4::timestamptz[]) - 1 as bar,
        coalesce(sum(amount_micro) filter (where status <> 'failed'), 0) as spent,
        count(*) filter (where status = 'confirmed') as confirmed,
        count(*) filter (where status = 'pending') as pending,
        count(*) filter (where status = 'failed') as failed
      from payments
      where workspace_id = $1 and mode = ${mode} and id >= (select from_id from unsummed) and id < $3
      group by agent_id, bar
    ), done as materialized (
      select agent_id, bar, sum(spent) as spent, sum(confirmed) as confirmed, sum(pending) as pending,
        sum(failed) as failed
      from parts group by agent_id, bar
    ), first as materialized (
      select agent_id from done where agent_id is not null
      group by agent_id having sum(spent) > 0 order by sum(spent) desc, agent_id limit $5
    )
    select f.agent_id, d.agent_id is null as is_withdrawal, d.bar, sum(d.spent) as spent, sum(d.confirmed) as confirmed, sum(d.pending) as pending,
      sum(d.failed) as failed
    from done d left join first f on f.agent_id = d.agent_id group by f.agent_id, d.agent_id is null, d.bar`,
)

/**
 * Sums what each agent spent and counts its payments, bar by bar, and does the same for the withdrawals, which are the
 * payments without an agent. Reads the sums of whole hours with their primary key. Reads the payments that are not yet
 * in these sums, each once, with the index `payments_listed`. Returns few rows, however many agents there are.
 */
export function sumSpend({ workspaceId, mode, from, below, barStarts, end, agentsMax }: SpendRange): Query<SpendRow[]> {
  return {
    ...spendText(mode),
    values: [workspaceId, from, below, barStarts, agentsMax, end],
    read: all(SPEND_ROW, (row) => ({
      isWithdrawal: row.is_withdrawal,
      agentId: row.agent_id,
      bar: row.bar,
      spentMicro: BigInt(row.spent),
      confirmed: Number(row.confirmed),
      pending: Number(row.pending),
      failed: Number(row.failed),
    })),
  }
}

const refusalsText = textOfMode(
  'count_payment_refusals',
  (mode) =>
    `select count(*) as refusals from (
      select id from payment_refusals where workspace_id = $1 and mode = ${mode} and id >= $2 and id < $3
      order by id desc limit $4
    ) newest`,
)

/**
 * Counts the refusals with ids from `from` up to but not including `below`. Counts at most `REFUSALS_KEPT_MAX`, because
 * no more are kept. Uses the index `payment_refusals_listed`.
 */
export function countRefusals(workspaceId: string, mode: Mode, from: string, below: string): Query<number> {
  return {
    ...refusalsText(mode),
    values: [workspaceId, from, below, REFUSALS_KEPT_MAX],
    read: one({ refusals: computed.int8 }, (row) => Number(row.refusals)),
  }
}

export interface CapWindow {
  readonly workspaceId: string
  readonly mode: Mode
  readonly now: Date
  /** The start of the window of the daily caps. A payment counts if it was created after this time. */
  readonly windowStart: Date
  readonly limit: number
}

const capsText = textOfMode(
  'list_fullest_caps',
  (mode) => `with fullest as (
      select g.id, g.agent_id, g.wallet_address, g.status, g.suspended_at, g.expires_at, g.daily_cap_micro, s.spent
      from grants g
      cross join lateral (select ${spentSum({ ...TERMS_OF_GRANT, since: '$2' })} as spent) s
      where g.workspace_id = $1 and g.mode = ${mode} and g.status = 'active'
      order by s.spent / g.daily_cap_micro desc, g.id limit $3
    )
    select f.id, f.agent_id, f.wallet_address, w.name as wallet_name, f.status, f.suspended_at, f.expires_at,
      f.daily_cap_micro, f.spent
    from fullest f join wallets w on w.workspace_id = $1 and w.mode = ${mode} and w.address = f.wallet_address
    order by f.spent / f.daily_cap_micro desc, f.id`,
)

/**
 * Lists the active grants that have used the largest share of their daily cap. Reads the grants with
 * `grants_one_active_per_agent_and_wallet`, and each grant's payments of the window with `payments_in_window` and `unexplained_transfers_of_wallet`.
 */
export function listFullestCaps({ workspaceId, mode, now, windowStart, limit }: CapWindow): Query<CapUse[]> {
  return {
    ...capsText(mode),
    values: [workspaceId, windowStart, limit],
    read: all(CAP_ROW, (row) => toCapUse(row, now)),
  }
}

const stepsText = textOfMode('find_steps', (mode) => {
  const place = `workspace_id = $1 and mode = ${mode}`
  return `select
      exists (select 1 from wallets where ${place}) as wallet,
      exists (select 1 from deposits where ${place}) as deposit,
      exists (select 1 from agents where ${place} and deleted_at is null) as agent,
      exists (select 1 from grants where ${place} and activated_at is not null) as signed,
      exists (select 1 from api_keys where ${place}) as key,
      exists (select 1 from payments where ${place} and kind <> 'withdrawal') as payment`
})

/** Finds which steps of the setup are done. Each step needs one look-up in an index. */
export function findSteps(workspaceId: string, mode: Mode): Query<Steps> {
  return {
    ...stepsText(mode),
    values: [workspaceId],
    read: one(STEPS_ROW, ({ wallet, deposit, agent, signed, key, payment }) => ({
      wallet,
      deposit,
      agent,
      grant: signed,
      key,
      payment,
    })),
  }
}

function toCapUse(row: RowOf<typeof CAP_ROW>, now: Date): CapUse {
  const [suspendedAt, expiresAt] = [row.suspended_at, row.expires_at]
  return {
    grantId: row.id,
    agentId: row.agent_id,
    wallet: row.wallet_address,
    walletName: row.wallet_name,
    state: grantState({ status: row.status, replacedBy: null, suspendedAt, expiresAt }, now),
    dailyCapMicro: microUsdc(BigInt(row.daily_cap_micro)),
    spent24hMicro: microUsdc(BigInt(row.spent)),
  }
}
