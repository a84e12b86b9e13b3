import { computed, narrow, nullable, pick, type RowOf } from '../../../db/column.ts'
import { all, one, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import { microUsdc } from '../../../values/money.ts'
import { grantState } from '../../grants/grant-state.ts'
import { REFUSALS_KEPT_MAX } from '../../payments/refusals/refusal.ts'
import { textOfMode } from '../../../db/bounded-scan-query.ts'
import type { CapUse, Steps } from './overview.ts'

const { grants, payments, wallets } = tables

const SPEND_ROW = {
  agent_id: nullable(payments.agent_id),
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

/** What one agent did in one bar. The agent is null in the sum of all agents that are not among the top spenders. */
export interface SpendRow {
  readonly agentId: string | null
  /** The bar's index, from 0. */
  readonly bar: number
  readonly spentMicro: bigint
  readonly confirmed: number
  readonly pending: number
  readonly failed: number
}

export interface SpendRange {
  readonly accountId: string
  readonly mode: Mode
  /** Ids of payments, or texts that sort among them: `from` is inclusive, `below` exclusive. */
  readonly from: string
  readonly below: string
  readonly barStarts: readonly Date[]
  readonly agentsMax: number
}

const spendText = textOfMode(
  'sum_spend',
  (mode) => `with done as materialized (
      select agent_id, width_bucket(created_at, $4::timestamptz[]) - 1 as bar,
        coalesce(sum(amount_micro) filter (where status <> 'failed'), 0) as spent,
        count(*) filter (where status = 'confirmed') as confirmed,
        count(*) filter (where status = 'pending') as pending,
        count(*) filter (where status = 'failed') as failed
      from payments where account_id = $1 and mode = ${mode} and id >= $2 and id < $3
      group by agent_id, bar
    ), first as (
      select agent_id from done group by agent_id having sum(spent) > 0 order by sum(spent) desc, agent_id limit $5
    )
    select f.agent_id, d.bar, sum(d.spent) as spent, sum(d.confirmed) as confirmed, sum(d.pending) as pending,
      sum(d.failed) as failed
    from done d left join first f on f.agent_id = d.agent_id group by f.agent_id, d.bar`,
)

/** Reads each payment of the range once, by `payments_listed`. Returns few rows, however many agents there are. */
export function sumSpend({ accountId, mode, from, below, barStarts, agentsMax }: SpendRange): Query<SpendRow[]> {
  return {
    ...spendText(mode),
    values: [accountId, from, below, barStarts, agentsMax],
    read: all(SPEND_ROW, (row) => ({
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
      select id from payment_refusals where account_id = $1 and mode = ${mode} and id >= $2 and id < $3
      order by id desc limit $4
    ) newest`,
)

/** Counts the refusals of a range of ids, at most as many as are kept. Uses the index `payment_refusals_listed`. */
export function countRefusals(accountId: string, mode: Mode, from: string, below: string): Query<number> {
  return {
    ...refusalsText(mode),
    values: [accountId, from, below, REFUSALS_KEPT_MAX],
    read: one({ refusals: computed.int8 }, (row) => Number(row.refusals)),
  }
}

export interface CapWindow {
  readonly accountId: string
  readonly mode: Mode
  readonly now: Date
  /** The window's payments were created after this time, and have ids from `from` on. */
  readonly windowStart: Date
  readonly from: string
  readonly limit: number
}

const capsText = textOfMode(
  'list_fullest_caps',
  (mode) => `with spent as materialized (
      select wallet_address, agent_id, sum(amount_micro) as micro from payments
      where account_id = $1 and mode = ${mode} and id >= $2 and created_at > $3 and status <> 'failed'
      group by wallet_address, agent_id
    )
    select g.id, g.agent_id, g.wallet_address, w.name as wallet_name, g.status, g.suspended_at, g.expires_at,
      g.daily_cap_micro, coalesce(s.micro, 0) as spent
    from grants g
    join wallets w on w.account_id = g.account_id and w.mode = g.mode and w.address = g.wallet_address
    left join spent s on s.wallet_address = g.wallet_address and s.agent_id = g.agent_id
    where g.account_id = $1 and g.mode = ${mode} and g.status = 'active'
    order by coalesce(s.micro, 0) / g.daily_cap_micro desc, g.id limit $4`,
)

/**
 * The active grants that have used most of their daily cap. The window's payments are read once for all grants, by
 * `payments_listed`; grants by `grants_one_active_per_agent_and_wallet`.
 */
export function listFullestCaps({ accountId, mode, now, windowStart, from, limit }: CapWindow): Query<CapUse[]> {
  return {
    ...capsText(mode),
    values: [accountId, from, windowStart, limit],
    read: all(CAP_ROW, (row) => toCapUse(row, now)),
  }
}

const stepsText = textOfMode('find_steps', (mode) => {
  const place = `account_id = $1 and mode = ${mode}`
  return `select
      exists (select 1 from wallets where ${place}) as wallet,
      exists (select 1 from deposits where ${place}) as deposit,
      exists (select 1 from agents where ${place} and deleted_at is null) as agent,
      exists (select 1 from grants where ${place} and activated_at is not null) as signed,
      exists (select 1 from api_keys where ${place}) as key,
      exists (select 1 from payments where ${place}) as payment`
})

/** Each step is one look-up in an index. */
export function findSteps(accountId: string, mode: Mode): Query<Steps> {
  return {
    ...stepsText(mode),
    values: [accountId],
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
