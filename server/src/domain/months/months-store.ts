import { computed, listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import { MONTHS_MAX, type Month, type MonthBlock } from './month.ts'

const { month_blocks: blocks, wallets } = tables

const BLOCK_ROW = {
  month: narrow<Month>(blocks.month),
  ...pick(blocks, 'first_block', 'parent_hash', 'is_final', 'next_read_at'),
}
const BLOCK_COLUMNS = listOf(BLOCK_ROW)

/** Lists the blocks with which the newest months begin, the newest month first. Uses the primary key. */
export function listMonthBlocks(mode: Mode): Query<MonthBlock[]> {
  return {
    name: 'list_month_blocks',
    text: `select ${BLOCK_COLUMNS} from month_blocks where mode = $1 order by month desc limit ${MONTHS_MAX}`,
    values: [mode],
    read: all(BLOCK_ROW, toMonthBlock),
  }
}

/** Stores the block with which a month begins, instead of another one that a reorganization has replaced. */
export function saveMonthBlock(mode: Mode, block: MonthBlock): Query<boolean> {
  return {
    name: 'save_month_block',
    text: `insert into month_blocks (mode, ${BLOCK_COLUMNS}) values ($1, $2, $3, $4, $5, $6)
      on conflict (mode, month) do update set first_block = excluded.first_block, parent_hash = excluded.parent_hash,
        is_final = excluded.is_final, next_read_at = excluded.next_read_at`,
    values: [mode, block.month, block.firstBlock, block.parentHash, block.isFinal, block.nextReadAt],
    read: changed,
  }
}

/** Returns when the oldest wallet of a mode was created. Null if there is none. Uses the index `wallets_by_time`. */
export function findOldestWallet(mode: Mode): Query<Date | null> {
  return {
    name: 'find_oldest_wallet',
    text: 'select created_at from wallets where mode = $1 order by created_at limit 1',
    values: [mode],
    read: firstOrNull(pick(wallets, 'created_at'), (row) => row.created_at),
  }
}

/** A wallet, and whether its balance is needed: it existed when the month began, and the balance is not stored. */
export interface WalletOfMonth {
  readonly workspaceId: string
  readonly address: Address
  readonly isMissing: boolean
}

/**
 * Lists the wallets of a mode after an address, in the order of their addresses. Uses the index `wallets_of_mode`, and
 * the primary key of the balances.
 */
export function listWalletsOfMonth(
  mode: Mode,
  {
    month,
    parentHash,
    createdBefore,
    after,
    limit,
  }: Pick<MonthBlock, 'month' | 'parentHash'> & {
    readonly createdBefore: Date
    readonly after: Address | null
    readonly limit: number
  },
): Query<WalletOfMonth[]> {
  return {
    name: 'list_wallets_of_month',
    text: `select w.workspace_id, w.address, w.created_at < $3 and not exists (
          select 1 from month_balances b where b.workspace_id = w.workspace_id and b.mode = w.mode
            and b.wallet_address = w.address and b.month = $4 and b.block_hash = $5
        ) as is_missing
      from wallets w where w.mode = $1 and (w.mode, w.address) > ($1, $2) order by w.address limit $6`,
    values: [mode, after ?? '', createdBefore, month, parentHash, limit],
    read: all(
      { workspace_id: wallets.workspace_id, address: narrow<Address>(wallets.address), is_missing: computed.bool },
      (row) => ({ workspaceId: row.workspace_id, address: row.address, isMissing: row.is_missing }),
    ),
  }
}

export interface MonthBalance {
  readonly workspaceId: string
  readonly address: Address
  readonly balanceMicro: MicroUsdc
}

/** Stores the balances with which a month begins, instead of those that were read at a block that was replaced. */
export function saveMonthBalances(
  mode: Mode,
  { month, parentHash }: Pick<MonthBlock, 'month' | 'parentHash'>,
  balances: readonly MonthBalance[],
): Query<number> {
  return {
    name: 'save_month_balances',
    text: `insert into month_balances (workspace_id, mode, wallet_address, month, balance_micro, block_hash)
      select t.workspace_id, $1, t.address, $2, t.balance, $3
      from unnest($4::text[], $5::text[], $6::numeric[]) as t (workspace_id, address, balance)
      on conflict (workspace_id, mode, wallet_address, month) do update
        set balance_micro = excluded.balance_micro, block_hash = excluded.block_hash`,
    values: [
      mode,
      month,
      parentHash,
      balances.map(({ workspaceId }) => workspaceId),
      balances.map(({ address }) => address),
      balances.map(({ balanceMicro }) => String(balanceMicro)),
    ],
    read: countChanged,
  }
}

function toMonthBlock(row: RowOf<typeof BLOCK_ROW>): MonthBlock {
  return {
    month: row.month,
    firstBlock: BigInt(row.first_block),
    parentHash: row.parent_hash,
    isFinal: row.is_final,
    nextReadAt: row.next_read_at,
  }
}
