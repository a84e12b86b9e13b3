import { computed, narrow, nullableAll, pick, type RowOf } from '../../../db/column.ts'
import { foundRow, rowsOf, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import { microUsdc, type MicroUsdc } from '../../../values/money.ts'
import { spentSum, TERMS_OF_GRANT, windowStart } from '../../grants/spent-window.ts'
import type { Grant } from '../../grants/grant.ts'

/** A wallet with its grants, as the database has them: without the balance and the labels. */
export interface WalletRow {
  readonly address: Address
  readonly name: string
  readonly grants: readonly GrantRow[]
}

export type GrantRow = Pick<
  Grant,
  | 'id'
  | 'agentId'
  | 'status'
  | 'suspendedAt'
  | 'maxPerTxMicro'
  | 'dailyCapMicro'
  | 'recipientAllowlist'
  | 'expiresAt'
  | 'x402'
> & { readonly spent24hMicro: MicroUsdc }

const { wallets, grants } = tables

/** The columns of a grant. They are null if the wallet has no grant. */
const FOUND_ROW = {
  ...pick(grants, 'id', 'agent_id', 'status', 'max_per_tx_micro', 'daily_cap_micro', 'x402'),
  recipient_allowlist: narrow<Address>(grants.recipient_allowlist),
  spent: computed.numeric,
}

const WALLET_ROW = {
  address: narrow<Address>(wallets.address),
  name: wallets.name,
  ...nullableAll(FOUND_ROW),
  ...pick(grants, 'suspended_at', 'expires_at'),
}

interface Place {
  readonly workspaceId: string
  readonly mode: Mode
  /**
   * If set, selects only wallets on which this agent has a signed grant that is not revoked, and only this agent's
   * grants on them. Null selects all wallets, with the grants of all agents.
   */
  readonly agentId: string | null
  readonly now: Date
}

/**
 * Builds a statement that returns one row for each of the selected wallets and each of its grants that are not revoked.
 * Reads the wallets by their primary key. For one agent, finds them by the indexes on its grants that are not revoked.
 * Uses `grants_by_wallet` or `grants_live_by_agent` to read the grants, and `payments_in_window` and `unexplained_transfers_of_wallet` to read what was
 * spent. With `offset 0`, PostgreSQL reads the grants of each wallet of the page, and not all grants of the workspace.
 */
function textOf(parts: { readonly page: string; readonly ofAgent: string }): string {
  return `with page as (${parts.page})
    select page.address, page.name, g.id, g.agent_id, g.status, g.max_per_tx_micro, g.daily_cap_micro,
      g.x402, g.recipient_allowlist, g.suspended_at, g.expires_at,
      case when g.id is not null then ${spentSum({ ...TERMS_OF_GRANT, since: '$3' })} end as spent
    from page
    left join lateral (
      select workspace_id, mode, wallet_address, id, agent_id, status, max_per_tx_micro, daily_cap_micro,
        x402, recipient_allowlist, suspended_at, expires_at
      from grants
      where workspace_id = $1 and mode = $2 and wallet_address = page.address and status <> 'revoked' ${parts.ofAgent}
      offset 0
    ) g on true
    order by page.address, g.agent_id, g.id`
}

const PAGE = 'select address, name from wallets where workspace_id = $1 and mode = $2'
const PAGE_OF_AGENT = `select w.address, w.name from grants a
    join wallets w on w.workspace_id = $1 and w.mode = $2 and w.address = a.wallet_address
    where a.workspace_id = $1 and a.mode = $2 and a.status = 'active'`

/**
 * Reads the workspace's own wallets first, and then takes a page of them. Without `materialized`, PostgreSQL could read
 * the wallets of all workspaces in the order of their addresses, by `wallets_by_address`.
 */
const pageOf = (own: string): string => `with own as materialized (${own})
    select address, name from own where address > $4 order by address limit $5::bigint`

const LIST = textOf({ page: pageOf(PAGE), ofAgent: '' })
const LIST_OF_AGENT = textOf({ page: pageOf(`${PAGE_OF_AGENT} and a.agent_id = $6`), ofAgent: 'and agent_id = $6' })
const FIND = textOf({ page: `${PAGE} and address = $4`, ofAgent: '' })
const FIND_OF_AGENT = textOf({
  page: `${PAGE_OF_AGENT} and a.agent_id = $5 and a.wallet_address = $4`,
  ofAgent: 'and agent_id = $5',
})

const read = rowsOf(WALLET_ROW, (rows) => [...Map.groupBy(rows, ({ address }) => address).values()].flatMap(toWallet))

/** Lists wallets with their grants, in the order of their addresses, starting after `after`. */
export function listWalletRows(
  { workspaceId, mode, agentId, now }: Place,
  { after, limit }: { readonly after: Address | null; readonly limit: number },
): Query<WalletRow[]> {
  const values = [workspaceId, mode, windowStart(now), after ?? '', limit]
  return agentId === null
    ? { name: 'list_wallet_budgets', text: LIST, values, read }
    : { name: 'list_wallet_budgets_of_agent', text: LIST_OF_AGENT, values: [...values, agentId], read }
}

/** Finds a wallet with its grants. The list has at most one entry. */
export function findWalletRow({ workspaceId, mode, agentId, now }: Place, address: Address): Query<WalletRow[]> {
  const values = [workspaceId, mode, windowStart(now), address]
  return agentId === null
    ? { name: 'find_wallet_budget', text: FIND, values, read }
    : { name: 'find_wallet_budget_of_agent', text: FIND_OF_AGENT, values: [...values, agentId], read }
}

type Row = RowOf<typeof WALLET_ROW>

/** Merges the rows of one wallet. */
function toWallet(rows: readonly Row[]): WalletRow[] {
  const [first] = rows
  if (first === undefined) return []
  const { address, name } = first
  return [{ address, name, grants: rows.filter(({ id }) => id !== null).map(toGrant) }]
}

function toGrant(row: Row): GrantRow {
  const found = foundRow(FOUND_ROW, row)
  return {
    id: found.id,
    agentId: found.agent_id,
    status: found.status,
    suspendedAt: row.suspended_at,
    maxPerTxMicro: microUsdc(BigInt(found.max_per_tx_micro)),
    dailyCapMicro: microUsdc(BigInt(found.daily_cap_micro)),
    recipientAllowlist: found.recipient_allowlist,
    expiresAt: row.expires_at,
    x402: found.x402,
    spent24hMicro: microUsdc(BigInt(found.spent)),
  }
}
