import { computed, narrow, nullable, nullableAll, pick, type RowOf } from '../../db/column.ts'
import { changed, firstOrNull, foundRow, one, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import { spentSum, TERMS_OF_GRANT, windowStart } from '../grants/spent-window.ts'
import { decideAgentState, type LiveGrantState } from './agent-state.ts'
import type { Agent, SpendableGrant, SpendableWallet } from './agent.ts'

const { agents, grants } = tables

/** The wallet and the limits of a grant. */
const LIMITS_ROW = {
  wallet_address: narrow<Address>(grants.wallet_address),
  ...pick(grants, 'max_per_tx_micro', 'daily_cap_micro'),
}

const AGENT_ROW = {
  ...pick(agents, 'id', 'mode', 'created_at', 'label'),
  grant_status: nullable(grants.status),
  granted_at: nullable(grants.created_at),
  ...nullableAll(LIMITS_ROW),
  expires_at: grants.expires_at,
  grant_state: narrow<LiveGrantState>(nullable(computed.text)),
  spent: nullable(computed.numeric),
}

/** An agent to find, and the time for which its limits are computed. */
export interface AgentLookup {
  readonly workspaceId: string
  readonly mode: Mode
  readonly id: string
  readonly now: Date
}

/**
 * The columns of one row for each agent `a` and each of its unrevoked grants `g`. An agent without such a grant has one
 * row. A pending replacement has its own row, beside the row of the grant that it replaces. `now` and `since` are the
 * SQL expressions for the current time and for the start of the 24-hour window.
 *
 * For an active grant, `spent` is the total that the agent paid from the grant's wallet in the 24-hour window. Reads
 * payments by the indexes `payments_in_window` and `unexplained_transfers_of_wallet`.
 */
function agentColumns(now: string, since: string): string {
  return `a.id, a.mode, a.created_at, a.label, g.status as grant_status, g.created_at as granted_at, g.wallet_address,
    g.max_per_tx_micro, g.daily_cap_micro, g.expires_at,
    case when g.suspended_at is not null then 'suspended' when g.expires_at <= ${now} then 'expired' else g.status end
      as grant_state,
    case when g.status = 'active' then ${spentSum({ ...TERMS_OF_GRANT, since })} end as spent`
}

/**
 * Lists all agents of the workspace and mode, ordered by `created_at`, then by id. Reads grants by the index
 * `grants_live_by_agent`.
 */
export function listAgentRows(workspaceId: string, mode: Mode, now: Date): Query<Agent[]> {
  return {
    name: 'list_agents',
    text: `
      select ${agentColumns('$3', '$4')}
      from agents a
      left join grants g
        on g.workspace_id = a.workspace_id and g.mode = a.mode and g.agent_id = a.id and g.status <> 'revoked'
      where a.workspace_id = $1 and a.mode = $2 and a.deleted_at is null
      order by a.created_at, a.id, g.created_at`,
    values: [workspaceId, mode, now, windowStart(now)],
    read: rowsOf(AGENT_ROW, toAgents),
  }
}

/** Finds one agent in the same way as `findAgents`. */
export function findAgent(workspaceId: string, mode: Mode, id: string, now: Date): Query<Agent | null> {
  return findAgentsAs([{ workspaceId, mode, id, now }], ([agent = null]) => agent)
}

/**
 * Finds several agents, which may belong to several workspaces. The result has one element per lookup, null if there is
 * no such agent. Uses the primary key of agents and the index `grants_live_by_agent`; `offset 0` forces the planner to
 * use them.
 */
export function findAgents(lookups: readonly AgentLookup[]): Query<(Agent | null)[]> {
  return findAgentsAs(lookups, (agents) => agents)
}

function findAgentsAs<Result>(
  lookups: readonly AgentLookup[],
  read: (agents: (Agent | null)[]) => Result,
): Query<Result> {
  return {
    name: 'find_agents',
    text: `
      select l.n::int4 as n, ${agentColumns('l.now', 'l.since')}
      from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[]) with ordinality
        as l (workspace_id, mode, id, now, since, n)
      cross join lateral (
        select workspace_id, mode, id, created_at, label from agents
        where workspace_id = l.workspace_id and mode = l.mode and id = l.id and deleted_at is null offset 0) a
      left join lateral (
        select workspace_id, mode, agent_id, wallet_address, status, created_at, max_per_tx_micro, daily_cap_micro,
          expires_at, suspended_at
        from grants
        where workspace_id = a.workspace_id and mode = a.mode and agent_id = a.id and status <> 'revoked' offset 0) g on true`,
    values: [
      lookups.map(({ workspaceId }) => workspaceId),
      lookups.map(({ mode }) => mode),
      lookups.map(({ id }) => id),
      lookups.map(({ now }) => now),
      lookups.map(({ now }) => windowStart(now)),
    ],
    read: rowsOf({ ...AGENT_ROW, n: computed.int4 }, (rows) => {
      const found = Map.groupBy(rows, ({ n }) => n)
      return read(lookups.map((_, index) => toAgent((found.get(index + 1) ?? []).toSorted(byGrant))[0] ?? null))
    }),
  }
}

/**
 * Which grants to list: those of one agent, or of all agents of the workspace and mode if `agentId` is null. Only
 * grants that allow spending at the time `now` are listed.
 */
export interface SpendableLookup {
  readonly workspaceId: string
  readonly mode: Mode
  readonly agentId: string | null
  readonly now: Date
}

/** A lookup for all agents returns null if it finds more grants than this, so that no other lookup waits for it. */
export const GATHERED_GRANTS_MAX = 200

const SPENDABLE_COLUMNS = 'id, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro, created_at'
const SPENDABLE_GRANT_ROW = { agent_id: grants.agent_id, ...LIMITS_ROW }

/**
 * Lists the grants under which one agent, or any agent of a workspace and mode, can currently spend, oldest first.
 * Leaves out the amounts spent. The result has one list per lookup, or null for a lookup for all agents that finds more
 * than `GATHERED_GRANTS_MAX` grants. Uses the index `grants_one_active_per_agent_and_wallet`; `offset 0` forces the
 * planner to use it.
 */
export function listSpendableGrants(lookups: readonly SpendableLookup[]): Query<(SpendableGrant[] | null)[]> {
  return {
    name: 'list_spendable_grants',
    text: `
      select l.n::int4 as n, g.agent_id, g.wallet_address, g.max_per_tx_micro, g.daily_cap_micro
      from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
        with ordinality as l (workspace_id, mode, agent_id, now, n)
      cross join lateral (
        (select ${SPENDABLE_COLUMNS} from grants
          where workspace_id = l.workspace_id and mode = l.mode and agent_id = l.agent_id and status = 'active'
            and suspended_at is null and (expires_at is null or expires_at > l.now) offset 0)
        union all
        (select ${SPENDABLE_COLUMNS} from grants
          where l.agent_id is null and workspace_id = l.workspace_id and mode = l.mode and status = 'active'
            and suspended_at is null and (expires_at is null or expires_at > l.now)
          limit ${GATHERED_GRANTS_MAX + 1} offset 0)) g
      order by l.n, g.created_at, g.id`,
    values: [
      lookups.map(({ workspaceId }) => workspaceId),
      lookups.map(({ mode }) => mode),
      lookups.map(({ agentId }) => agentId),
      lookups.map(({ now }) => now),
    ],
    read: rowsOf({ n: computed.int4, ...SPENDABLE_GRANT_ROW }, (rows) => {
      const found = Map.groupBy(rows, ({ n }) => n)
      return lookups.map(({ agentId }, index) => {
        const own = found.get(index + 1) ?? []
        return agentId === null && own.length > GATHERED_GRANTS_MAX ? null : own.map(toSpendableGrant)
      })
    }),
  }
}

/** How many grants one statement lists. To format so many takes a few milliseconds. */
export const SPENDABLE_PAGE_MAX = 1_000

/**
 * Lists the next page of the grants of all agents, ordered by agent and wallet. `after` is the last grant of the page
 * before. Uses the index `grants_one_active_per_agent_and_wallet`.
 */
export function listSpendablePage(
  { workspaceId, mode, now }: Omit<SpendableLookup, 'agentId'>,
  after: SpendableGrant | null,
): Query<SpendableGrant[]> {
  return {
    name: 'list_spendable_page',
    text: `
      select agent_id, wallet_address, max_per_tx_micro, daily_cap_micro from grants
      where workspace_id = $1 and mode = $2 and status = 'active' and suspended_at is null
        and (expires_at is null or expires_at > $3) and (agent_id, wallet_address) > ($4, $5)
      order by agent_id, wallet_address limit ${SPENDABLE_PAGE_MAX}`,
    values: [workspaceId, mode, now, after?.agentId ?? '', after?.address ?? ''],
    read: rowsOf(SPENDABLE_GRANT_ROW, (rows) => rows.map(toSpendableGrant)),
  }
}

function toSpendableGrant(row: RowOf<typeof SPENDABLE_GRANT_ROW>): SpendableGrant {
  return {
    agentId: row.agent_id,
    address: row.wallet_address,
    maxPerTxMicro: microUsdc(BigInt(row.max_per_tx_micro)),
    dailyCapMicro: microUsdc(BigInt(row.daily_cap_micro)),
  }
}

export function countAgents(workspaceId: string, mode: Mode): Query<number> {
  return {
    name: 'count_agents',
    text: 'select count(*) as agents from agents where workspace_id = $1 and mode = $2 and deleted_at is null',
    values: [workspaceId, mode],
    read: one({ agents: computed.int8 }, (row) => Number(row.agents)),
  }
}

/**
 * Inserts an agent unless it exists. If a deleted agent has this id, it is created again. Returns whether the agent is
 * new.
 */
export function insertAgent(workspaceId: string, mode: Mode, id: string, createdAt: Date): Query<boolean> {
  return {
    name: 'insert_agent',
    text: `insert into agents as a (workspace_id, mode, id, created_at) values ($1, $2, $3, $4)
      on conflict (workspace_id, mode, id) do update set created_at = excluded.created_at, deleted_at = null, label = null
        where a.deleted_at is not null`,
    values: [workspaceId, mode, id, createdAt],
    read: changed,
  }
}

/** Gives an agent a label. Returns its label before, or null if there is no such agent. Uses the primary key. */
export function labelAgentRow(
  { workspaceId, mode, id }: Pick<AgentLookup, 'workspaceId' | 'mode' | 'id'>,
  label: string | null,
): Query<{ readonly before: string | null } | null> {
  return {
    name: 'label_agent',
    text: `with old as (
        select label from agents
        where workspace_id = $1 and mode = $2 and id = $3 and deleted_at is null for no key update
      )
      update agents set label = $4 from old where workspace_id = $1 and mode = $2 and id = $3
      returning old.label as before`,
    values: [workspaceId, mode, id, label],
    read: firstOrNull({ before: agents.label }, (row) => ({ before: row.before })),
  }
}

/** Marks an agent as deleted. */
export function markDeleted(workspaceId: string, mode: Mode, id: string, now: Date): Query<boolean> {
  return {
    name: 'mark_agent_deleted',
    text: `update agents set deleted_at = $4
      where workspace_id = $1 and mode = $2 and id = $3 and deleted_at is null`,
    values: [workspaceId, mode, id, now],
    read: changed,
  }
}

type AgentRow = RowOf<typeof AGENT_ROW>

function byGrant(left: AgentRow, right: AgentRow): number {
  return (left.granted_at?.getTime() ?? 0) - (right.granted_at?.getTime() ?? 0)
}

function toAgents(rows: readonly AgentRow[]): Agent[] {
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap(toAgent)
}

/** Merges the rows of one agent. */
function toAgent(rows: readonly AgentRow[]): Agent[] {
  const [first] = rows
  if (first === undefined) return []
  const { id, mode, created_at: createdAt, label } = first
  return [
    {
      id,
      mode,
      createdAt,
      label,
      state: decideAgentState(rows.flatMap(({ grant_state: state }) => state ?? [])),
      activeSigners: rows.filter((row) => row.grant_status === 'active').length,
      pendingSigners: rows.filter((row) => row.grant_status === 'pending').length,
      wallets: rows
        .filter((row) => row.grant_state === 'active')
        .map((row) => toSpendableWallet(foundRow(SPENDABLE_ROW, row))),
    },
  ]
}

/** The columns of a grant under which the agent can currently spend. */
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
