import { computed, narrow, nullable, nullableAll, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, foundRow, one, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import { windowStart, type Agent, type SpendableGrant, type SpendableWallet } from './agent.ts'

const { agents, grants } = tables

/** The limits of a grant. */
const LIMITS_ROW = {
  wallet_address: narrow<Address>(grants.wallet_address),
  ...pick(grants, 'max_per_tx_micro', 'daily_cap_micro'),
}

const AGENT_ROW = {
  ...pick(agents, 'id', 'mode', 'created_at'),
  grant_status: nullable(grants.status),
  granted_at: nullable(grants.created_at),
  ...nullableAll(LIMITS_ROW),
  expires_at: grants.expires_at,
  spendable: nullable(computed.bool),
  spent: nullable(computed.numeric),
}

/**
 * One row for each agent and each of its grants that is not revoked, with what was spent in the grant's window; an
 * agent without a grant has one row. A pending replacement has a row beside the grant that it replaces. Grants by
 * `grants_live_by_agent`, sums by `payments_in_window`.
 */
const AGENT_ROWS = `
  select a.id, a.mode, a.created_at, g.status as grant_status, g.created_at as granted_at, g.wallet_address,
    g.max_per_tx_micro, g.daily_cap_micro, g.expires_at,
    g.status = 'active' and g.suspended_at is null and (g.expires_at is null or g.expires_at > $3) as spendable,
    case when g.status = 'active' then (
      select coalesce(sum(p.amount_micro), 0) from payments p
      where p.account_id = g.account_id and p.mode = g.mode and p.wallet_address = g.wallet_address
        and p.agent_id = g.agent_id and p.created_at > $4 and p.status <> 'failed'
    ) end as spent
  from agents a
  left join grants g on g.account_id = a.account_id and g.mode = a.mode and g.agent_id = a.id and g.status <> 'revoked'
  where a.account_id = $1 and a.mode = $2 and a.deleted_at is null`

/** Every agent of (account, mode), in the order of `created_at`, then id. */
export function listAgentRows(accountId: string, mode: Mode, now: Date): Query<Agent[]> {
  return {
    name: 'list_agents',
    text: `${AGENT_ROWS} order by a.created_at, a.id, g.created_at`,
    values: [accountId, mode, now, windowStart(now)],
    read: rowsOf(AGENT_ROW, toAgents),
  }
}

/** Uses the primary key of agents. */
export function findAgent(accountId: string, mode: Mode, id: string, now: Date): Query<Agent | null> {
  return {
    name: 'find_agent',
    text: `${AGENT_ROWS} and a.id = $5`,
    values: [accountId, mode, now, windowStart(now), id],
    read: rowsOf(AGENT_ROW, (rows) => toAgents(rows.toSorted(byGrant))[0] ?? null),
  }
}

/** One entry for each grant that can be spent from now, of all agents of (account, mode), without what was spent. */
export function listSpendableGrants(accountId: string, mode: Mode, now: Date): Query<SpendableGrant[]> {
  return {
    name: 'list_spendable_grants',
    text: `
      select agent_id, wallet_address, max_per_tx_micro, daily_cap_micro from grants
      where account_id = $1 and mode = $2 and status = 'active' and suspended_at is null
        and (expires_at is null or expires_at > $3)
      order by created_at, id`,
    values: [accountId, mode, now],
    read: all({ agent_id: grants.agent_id, ...LIMITS_ROW }, (row) => ({
      agentId: row.agent_id,
      address: row.wallet_address,
      maxPerTxMicro: microUsdc(BigInt(row.max_per_tx_micro)),
      dailyCapMicro: microUsdc(BigInt(row.daily_cap_micro)),
    })),
  }
}

export function countAgents(accountId: string, mode: Mode): Query<number> {
  return {
    name: 'count_agents',
    text: 'select count(*) as agents from agents where account_id = $1 and mode = $2 and deleted_at is null',
    values: [accountId, mode],
    read: one({ agents: computed.int8 }, (row) => Number(row.agents)),
  }
}

/** Inserts an agent unless it exists; a deleted one is created again. Returns whether it did. */
export function insertAgent(accountId: string, mode: Mode, id: string, createdAt: Date): Query<boolean> {
  return {
    name: 'insert_agent',
    text: `insert into agents as a (account_id, mode, id, created_at) values ($1, $2, $3, $4)
      on conflict (account_id, mode, id) do update set created_at = excluded.created_at, deleted_at = null
        where a.deleted_at is not null`,
    values: [accountId, mode, id, createdAt],
    read: changed,
  }
}

/** Deletes the agent's signing key with it: there is nothing left that it may sign. */
export function markDeleted(accountId: string, mode: Mode, id: string, now: Date): Query<boolean> {
  return {
    name: 'mark_agent_deleted',
    text: `update agents set deleted_at = $4, signer_id = null, signer_private_key_sealed = null
      where account_id = $1 and mode = $2 and id = $3 and deleted_at is null`,
    values: [accountId, mode, id, now],
    read: changed,
  }
}

/**
 * The key with which the agent authorizes requests at the enclave; `privateKeySealed` is its private half, encrypted
 * (D15a).
 */
export interface SignerRow {
  readonly signerId: string | null
  readonly privateKeySealed: Buffer | null
}

export function findSigner(accountId: string, mode: Mode, id: string): Query<SignerRow | null> {
  return {
    name: 'find_agent_signer',
    text: `select signer_id, signer_private_key_sealed from agents
      where account_id = $1 and mode = $2 and id = $3 and deleted_at is null`,
    values: [accountId, mode, id],
    read: firstOrNull(pick(agents, 'signer_id', 'signer_private_key_sealed'), (row) => ({
      signerId: row.signer_id,
      privateKeySealed: row.signer_private_key_sealed,
    })),
  }
}

/** Stores an agent's signer unless it has one; returns the stored one, or null if there is no such agent. */
export function saveSigner(
  accountId: string,
  mode: Mode,
  id: string,
  signerId: string,
  sealed: Buffer,
): Query<string | null> {
  return {
    name: 'keep_agent_signer',
    text: `update agents set signer_private_key_sealed = case when signer_id is null then $5 else signer_private_key_sealed end,
        signer_id = coalesce(signer_id, $4)
      where account_id = $1 and mode = $2 and id = $3 and deleted_at is null returning signer_id`,
    values: [accountId, mode, id, signerId, sealed],
    read: firstOrNull(pick(agents, 'signer_id'), (row) => row.signer_id),
  }
}

type AgentRow = RowOf<typeof AGENT_ROW>

function byGrant(left: AgentRow, right: AgentRow): number {
  return (left.granted_at?.getTime() ?? 0) - (right.granted_at?.getTime() ?? 0)
}

function toAgents(rows: readonly AgentRow[]): Agent[] {
  const agents: (Agent & { activeSigners: number; pendingSigners: number; wallets: SpendableWallet[] })[] = []
  for (const row of rows) {
    let agent = agents.at(-1)
    if (agent === undefined || agent.id !== row.id) {
      agent = {
        id: row.id,
        mode: row.mode,
        createdAt: row.created_at,
        activeSigners: 0,
        pendingSigners: 0,
        wallets: [],
      }
      agents.push(agent)
    }
    if (row.grant_status === 'active') agent.activeSigners += 1
    if (row.grant_status === 'pending') agent.pendingSigners += 1
    if (row.spendable === true) agent.wallets.push(toSpendableWallet(foundRow(SPENDABLE_ROW, row)))
  }
  return agents
}

/** The columns of an active grant. */
const SPENDABLE_ROW = { ...LIMITS_ROW, expires_at: grants.expires_at, spent: computed.numeric }

function toSpendableWallet(row: RowOf<typeof SPENDABLE_ROW>): SpendableWallet {
  return {
    address: row.wallet_address,
    maxPerTxMicro: microUsdc(BigInt(row.max_per_tx_micro)),
    dailyCapMicro: microUsdc(BigInt(row.daily_cap_micro)),
    spent24hMicro: microUsdc(BigInt(row.spent)),
    expiresAt: row.expires_at,
  }
}
