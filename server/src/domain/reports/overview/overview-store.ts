import { all, type Query, type Row } from '../../../db/query.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import { microUsdc } from '../../../values/money.ts'
import { grantState } from '../../grants/grant-state.ts'
import { REFUSALS_KEPT_MAX } from '../../payments/refusals/refusal.ts'
import { textOfMode } from '../../../db/bounded-scan-query.ts'
import type { CapUse, Steps } from './overview.ts'

/** What one agent did in one bar; the agent is null for those that are not among the ones who spent most. */
export interface SpendRow {
  readonly agentId: string | null
  /** From 0. */
  readonly bar: number
  readonly spentMicro: bigint
  readonly confirmed: number
  readonly pending: number
  readonly failed: number
}

export interface SpendRange {
  readonly accountId: string
  readonly mode: Mode
  /** Ids of payments, or what sorts among them: from `from` on, below `below`. */
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

/** Each payment of the range is read once, by `payments_listed`; few rows come of it, however many agents there are. */
export function sumSpend({ accountId, mode, from, below, barStarts, agentsMax }: SpendRange): Query<SpendRow[]> {
  return {
    ...spendText(mode),
    values: [accountId, from, below, barStarts, agentsMax],
    read: all((row) => ({
      agentId: row['agent_id'],
      bar: row['bar'],
      spentMicro: BigInt(row['spent']),
      confirmed: Number(row['confirmed']),
      pending: Number(row['pending']),
      failed: Number(row['failed']),
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

/** Those with these ids, or what sorts among them; so many as are kept, at the most. By `payment_refusals_listed`. */
export function countRefusals(accountId: string, mode: Mode, from: string, below: string): Query<number> {
  return {
    ...refusalsText(mode),
    values: [accountId, from, below, REFUSALS_KEPT_MAX],
    read: (rows) => Number(rows[0]?.['refusals']),
  }
}

export interface CapWindow {
  readonly accountId: string
  readonly mode: Mode
  readonly now: Date
  /** The window's payments were made after this time; ids from `from` on hold them all. */
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
 * The active grants whose caps are fullest. The window's payments are read once for all of them, by `payments_listed`;
 * grants by `grants_one_active_per_agent_and_wallet`.
 */
export function listFullestCaps({ accountId, mode, now, windowStart, from, limit }: CapWindow): Query<CapUse[]> {
  return {
    ...capsText(mode),
    values: [accountId, from, windowStart, limit],
    read: all((row) => toCapUse(row, now)),
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

/** One look into an index each. */
export function findSteps(accountId: string, mode: Mode): Query<Steps> {
  return {
    ...stepsText(mode),
    values: [accountId],
    read: (rows) => ({
      wallet: rows[0]?.['wallet'] ?? false,
      deposit: rows[0]?.['deposit'] ?? false,
      agent: rows[0]?.['agent'] ?? false,
      grant: rows[0]?.['signed'] ?? false,
      key: rows[0]?.['key'] ?? false,
      payment: rows[0]?.['payment'] ?? false,
    }),
  }
}

function toCapUse(row: Row, now: Date): CapUse {
  const [suspendedAt, expiresAt] = [row['suspended_at'], row['expires_at']]
  return {
    grantId: row['id'],
    agentId: row['agent_id'],
    wallet: row['wallet_address'] as Address,
    walletName: row['wallet_name'],
    state: grantState({ status: row['status'], replacedBy: null, suspendedAt, expiresAt }, now),
    dailyCapMicro: microUsdc(BigInt(row['daily_cap_micro'])),
    spent24hMicro: microUsdc(BigInt(row['spent'])),
  }
}
