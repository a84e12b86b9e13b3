import type { Hash } from 'viem'
import { listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
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
 * Sets back how far the chain of a mode was read, unless it was not read so far. Reading blocks again records nothing
 * twice. Uses the primary key.
 */
export function rewindCursor(mode: Mode, { blockNumber, blockHash, rereadBlock }: ReadProgress): Query<boolean> {
  return {
    name: 'rewind_deposit_cursor',
    text: `update deposit_cursors set block_number = least(block_number, $2),
        block_hash = case when block_number > $2 then $3 else block_hash end,
        reread_block = least(coalesce(reread_block, block_number), $4)
      where mode = $1`,
    values: [mode, blockNumber, blockHash, rereadBlock],
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
 * Moves deposits that are stored with another block to the block that contains them now. A deposit that had vanished is
 * back then. Uses the index `deposits_once`.
 */
export function moveDeposits(mode: Mode, transfers: readonly NumberedTransfer[]): Query<number> {
  return {
    name: 'move_deposits',
    text: `update deposits d set block_number = t.block_number, block_hash = t.block_hash, vanished_at = null
      from unnest($2::text[], $3::text[], $4::integer[], $5::bigint[], $6::text[])
        as t (tx_hash, wallet_address, position, block_number, block_hash)
      where d.mode = $1 and d.tx_hash = t.tx_hash and d.wallet_address = t.wallet_address and d.position = t.position
        and d.block_hash <> t.block_hash`,
    values: [
      mode,
      transfers.map(({ txHash }) => txHash),
      transfers.map(({ to }) => to),
      transfers.map(({ position }) => position),
      transfers.map(({ blockNumber }) => String(blockNumber)),
      transfers.map(({ blockHash }) => blockHash),
    ],
    read: countChanged,
  }
}

/** A deposit, by its primary key, and its transaction. */
export type DepositPlace = Pick<Deposit, 'workspaceId' | 'id' | 'txHash' | 'blockNumber'>

/** Lists the deposits of some blocks that have not vanished, at most `limit`. Uses the index `deposits_by_chain`. */
export function listDepositsIn(
  mode: Mode,
  { from, to }: { from: bigint; to: bigint },
  limit: number,
): Query<DepositPlace[]> {
  return {
    name: 'list_deposits_in',
    text: `select workspace_id, id, tx_hash, block_number from deposits
      where mode = $1 and block_number >= $2 and block_number <= $3 and vanished_at is null
      order by block_number limit $4`,
    values: [mode, from, to, limit],
    read: all(
      { ...pick(deposits, 'workspace_id', 'id', 'block_number'), tx_hash: narrow<Hash>(deposits.tx_hash) },
      (row) => ({
        ...{ workspaceId: row.workspace_id, id: row.id, txHash: row.tx_hash, blockNumber: BigInt(row.block_number) },
      }),
    ),
  }
}

/** Records that the chain no longer contains a deposit. Uses the primary key. */
export function markVanished({ workspaceId, id, blockNumber }: DepositPlace, now: Date): Query<boolean> {
  return {
    name: 'mark_deposit_vanished',
    text: `update deposits set vanished_at = $4
      where workspace_id = $1 and id = $2 and block_number = $3 and vanished_at is null`,
    values: [workspaceId, id, blockNumber, now],
    read: changed,
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
