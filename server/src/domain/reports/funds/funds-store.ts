import { textOfMode } from '../../../db/bounded-scan-query.ts'
import { computed, narrow, nullable, pick } from '../../../db/column.ts'
import { all, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import { spentSum, TERMS_OF_GRANT } from '../../grants/spent-window.ts'
import { unminedSum } from '../../payments/pending-store.ts'
import type { ActiveGrant, WalletBalance } from './funds.ts'

const { grants, wallets, wallet_balances: balances } = tables

interface Place {
  readonly workspaceId: string
  readonly mode: Mode
}

const BALANCE_ROW = {
  address: narrow<Address>(wallets.address),
  name: wallets.name,
  balance_micro: nullable(balances.balance_micro),
  read_at: nullable(balances.read_at),
  held: computed.numeric,
  owners: computed.int8,
  overdue: computed.int8,
}

const balancesText = textOfMode(
  'list_wallet_balances',
  (mode) => `with w as materialized (
      select workspace_id, mode, address, name, created_at from wallets
      where workspace_id = $1 and mode = ${mode} order by created_at desc, address desc limit $2
    )
    select w.address, w.name, b.balance_micro, b.read_at,
      case when b.block_number is null then 0 else ${unminedSum({
        ...{ workspace: 'w.workspace_id', mode: 'w.mode', wallet: 'w.address', block: 'b.block_number', since: '$3' },
      })} end as held,
      (select count(*) from wallet_owners o
        where o.workspace_id = w.workspace_id and o.mode = w.mode and o.wallet_address = w.address) as owners,
      (select count(*) from (
        select id from payments p
        where p.workspace_id = w.workspace_id and p.mode = w.mode and p.wallet_address = w.address
          and p.settled_at is null and p.created_at < $4
        order by p.created_at limit $5
      ) late) as overdue
    from w
    left join wallet_balances b on b.workspace_id = w.workspace_id and b.mode = w.mode and b.wallet_address = w.address
    order by w.created_at, w.address`,
)

/**
 * Lists the newest `limit` wallets, the oldest of them first, with their stored balances and what these do not reflect
 * yet. Counts the payments of each wallet that were pending before `overdueBefore`, up to `overdueMax`. Reads the wallets,
 * their owners and their balances by primary keys, and the payments by `payments_holding_balance` and
 * `payments_confirmed_by_block`.
 */
export function listWalletBalances(
  { workspaceId, mode }: Place,
  {
    limit,
    heldSince,
    overdueBefore,
    overdueMax,
  }: { readonly limit: number; readonly heldSince: Date; readonly overdueBefore: Date; readonly overdueMax: number },
): Query<WalletBalance[]> {
  return {
    ...balancesText(mode),
    values: [workspaceId, limit, heldSince, overdueBefore, overdueMax],
    read: all(BALANCE_ROW, (row) => ({
      address: row.address,
      name: row.name,
      balanceMicro: row.balance_micro === null ? null : BigInt(row.balance_micro),
      readAt: row.read_at,
      heldMicro: BigInt(row.held),
      owners: Number(row.owners),
      overdue: Number(row.overdue),
    })),
  }
}

const GRANT_ROW = {
  ...pick(grants, 'id', 'agent_id'),
  wallet_address: narrow<Address>(grants.wallet_address),
  ...pick(grants, 'suspended_at', 'expires_at', 'differs_since', 'daily_cap_micro'),
  spent: computed.numeric,
}

const grantsText = textOfMode(
  'list_active_grants',
  (
    mode,
  ) => `select g.id, g.agent_id, g.wallet_address, g.suspended_at, g.expires_at, g.differs_since, g.daily_cap_micro,
      ${spentSum({ ...TERMS_OF_GRANT, since: '$2' })} as spent
    from (
      select workspace_id, mode, id, agent_id, wallet_address, suspended_at, expires_at, differs_since, daily_cap_micro
      from grants
      where workspace_id = $1 and mode = ${mode} and status = 'active' order by agent_id, wallet_address limit $3
    ) g`,
)

/**
 * Lists signed grants that are not revoked, with what was spent under each since `windowStart`. Reads the grants with
 * `grants_one_active_per_agent_and_wallet`, and the payments of each with `payments_in_window` and
 * `unexplained_transfers_of_wallet`.
 */
export function listActiveGrants(
  { workspaceId, mode }: Place,
  { windowStart, limit }: { readonly windowStart: Date; readonly limit: number },
): Query<ActiveGrant[]> {
  return {
    ...grantsText(mode),
    values: [workspaceId, windowStart, limit],
    read: all(GRANT_ROW, (row) => ({
      id: row.id,
      agentId: row.agent_id,
      wallet: row.wallet_address,
      suspendedAt: row.suspended_at,
      expiresAt: row.expires_at,
      differsSince: row.differs_since,
      dailyCapMicro: BigInt(row.daily_cap_micro),
      spent24hMicro: BigInt(row.spent),
    })),
  }
}
