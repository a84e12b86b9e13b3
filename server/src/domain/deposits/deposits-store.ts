import type { Hash } from 'viem'
import { listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import type { Deposit, DepositCursor, NumberedTransfer, ReadProgress } from './deposit.ts'

const { deposits, deposit_cursors: cursors } = tables

export const DEPOSIT_ROW = {
  ...pick(deposits, 'workspace_id', 'id', 'mode'),
  wallet_address: narrow<Address>(deposits.wallet_address),
  from_address: narrow<Address>(deposits.from_address),
  amount_micro: deposits.amount_micro,
  tx_hash: narrow<Hash>(deposits.tx_hash),
  ...pick(deposits, 'position', 'block_number', 'created_at'),
}

const CURSOR_ROW = {
  ...pick(cursors, 'block_number', 'reread_block'),
  block_hash: narrow<Hash>(cursors.block_hash),
}

export const DEPOSIT_COLUMNS = listOf(DEPOSIT_ROW)

/**
 * Finds the cursor: the last block that was read, and the last one that was read a second time. Returns null if the
 * mode's chain was never read. Uses the primary key.
 */
export function findCursor(mode: Mode): Query<ReadProgress | null> {
  return {
    name: 'find_deposit_cursor',
    text: 'select block_number, block_hash, reread_block from deposit_cursors where mode = $1',
    values: [mode],
    read: firstOrNull(CURSOR_ROW, (row) => ({
      blockNumber: BigInt(row.block_number),
      blockHash: row.block_hash,
      rereadBlock: BigInt(row.reread_block ?? row.block_number),
    })),
  }
}

/**
 * Stores a mode's first cursor: the block after which reading begins. Returns false if there is a cursor already,
 * because another process was faster.
 */
export function insertCursor(mode: Mode, cursor: DepositCursor): Query<boolean> {
  return {
    name: 'insert_deposit_cursor',
    text: `insert into deposit_cursors (mode, block_number, block_hash) values ($1, $2, $3)
      on conflict (mode) do nothing`,
    values: [mode, cursor.blockNumber, cursor.blockHash],
    read: changed,
  }
}

/**
 * Moves the cursor (the last block that was read), if it is still at `from`. Returns false if another process has moved
 * it. The update also locks the cursor's row, even if `from` and `to` are the same. The first move also records from
 * where on blocks are read a second time.
 */
export function moveCursor(mode: Mode, from: DepositCursor, to: DepositCursor): Query<boolean> {
  return {
    name: 'move_deposit_cursor',
    text: `update deposit_cursors
      set block_number = $4, block_hash = $5, reread_block = coalesce(reread_block, block_number)
      where mode = $1 and block_number = $2 and block_hash = $3`,
    values: [mode, from.blockNumber, from.blockHash, to.blockNumber, to.blockHash],
    read: changed,
  }
}

/**
 * Moves the last block that was read a second time, if it is still `from`. Returns false if another process has moved
 * it. The update also locks the cursor's row, even if `from` and `to` are the same.
 */
export function moveRereadBlock(mode: Mode, { from, to }: { from: bigint; to: bigint }): Query<boolean> {
  return {
    name: 'move_reread_block',
    text: 'update deposit_cursors set reread_block = $3 where mode = $1 and reread_block = $2',
    values: [mode, from, to],
    read: changed,
  }
}

/**
 * Two texts: one sorts before every id of a deposit, and one after, because those ids have a digit after the prefix.
 */
const BEFORE_ALL = 'dep_'
const AFTER_ALL = 'dep_Z'

export interface NewDeposits {
  readonly mode: Mode
  readonly createdAt: Date
  readonly deposits: readonly (NumberedTransfer & Pick<Deposit, 'id'>)[]
}

/**
 * Inserts deposits and returns the ones that were inserted. Leaves out deposits that are already stored (unique index
 * `deposits_once`) and transfers to addresses that are not wallets of the mode (found by `wallets_by_address`).
 */
export function insertDeposits({ mode, createdAt, deposits }: NewDeposits): Query<Deposit[]> {
  return {
    name: 'insert_deposits',
    text: `insert into deposits (workspace_id, id, mode, wallet_address, from_address, amount_micro, tx_hash, position,
        block_number, block_hash, created_at)
      select w.workspace_id, t.id, w.mode, w.address, t.from_address, t.amount_micro, t.tx_hash, t.position,
        t.block_number, t.block_hash, $2
      from unnest($3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[], $8::integer[], $9::bigint[],
          $10::text[])
        as t (id, wallet_address, from_address, amount_micro, tx_hash, position, block_number, block_hash)
      join wallets w on w.address = t.wallet_address and w.mode = $1
      on conflict (mode, tx_hash, wallet_address, position) do nothing
      returning ${DEPOSIT_COLUMNS}`,
    values: [
      mode,
      createdAt,
      deposits.map(({ id }) => id),
      deposits.map(({ to }) => to),
      deposits.map(({ from }) => from),
      deposits.map(({ amountMicro }) => String(amountMicro)),
      deposits.map(({ txHash }) => txHash),
      deposits.map(({ position }) => position),
      deposits.map(({ blockNumber }) => String(blockNumber)),
      deposits.map(({ blockHash }) => blockHash),
    ],
    read: all(DEPOSIT_ROW, toDeposit),
  }
}

/**
 * Lists deposits, newest first: those with ids from `from` on and lower than `before`. Uses the index
 * `deposits_of_wallet` for one wallet, and `deposits_listed` for all.
 */
export function listDepositRows({
  workspaceId,
  mode,
  wallet,
  from = BEFORE_ALL,
  before,
  limit,
}: {
  workspaceId: string
  mode: Mode
  wallet: Address | null
  from?: string
  before: string | null
  limit: number
}): Query<Deposit[]> {
  const values = [workspaceId, mode, before ?? AFTER_ALL, limit, from]
  return wallet === null
    ? { name: 'list_deposits', text: listText('true'), values, read: all(DEPOSIT_ROW, toDeposit) }
    : {
        name: 'list_deposits_of_wallet',
        text: listText('wallet_address = $6'),
        values: [...values, wallet],
        read: all(DEPOSIT_ROW, toDeposit),
      }
}

function listText(condition: string): string {
  return `select ${DEPOSIT_COLUMNS} from deposits
    where workspace_id = $1 and mode = $2 and id < $3 and id >= $5 and ${condition} order by id desc limit $4`
}

export function toDeposit(row: RowOf<typeof DEPOSIT_ROW>): Deposit {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    mode: row.mode,
    wallet: row.wallet_address,
    from: row.from_address,
    amountMicro: microUsdc(BigInt(row.amount_micro)),
    txHash: row.tx_hash,
    position: row.position,
    blockNumber: BigInt(row.block_number),
    createdAt: row.created_at,
  }
}
