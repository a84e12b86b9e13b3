import type { Hash } from 'viem'
import { listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import type { Deposit, DepositCursor, NumberedTransfer } from './deposit.ts'

const { deposits, deposit_cursors: cursors } = tables

const DEPOSIT_ROW = {
  ...pick(deposits, 'account_id', 'id', 'mode'),
  wallet_address: narrow<Address>(deposits.wallet_address),
  from_address: narrow<Address>(deposits.from_address),
  amount_micro: deposits.amount_micro,
  tx_hash: narrow<Hash>(deposits.tx_hash),
  ...pick(deposits, 'position', 'block_number', 'created_at'),
}

const CURSOR_ROW = { block_number: cursors.block_number, block_hash: narrow<Hash>(cursors.block_hash) }

const COLUMNS = listOf(DEPOSIT_ROW)

/** Uses the primary key. Null before the chain was first read. */
export function findCursor(mode: Mode): Query<DepositCursor | null> {
  return {
    name: 'find_deposit_cursor',
    text: 'select block_number, block_hash from deposit_cursors where mode = $1',
    values: [mode],
    read: firstOrNull(CURSOR_ROW, (row) => ({
      blockNumber: BigInt(row.block_number),
      blockHash: row.block_hash,
    })),
  }
}

/** Returns false if there is a cursor already: the first process decides where reading begins. */
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
 * Compare and set; returns false if another process has moved it. The update also locks the cursor, even when it moves
 * to the same place.
 */
export function moveCursor(mode: Mode, from: DepositCursor, to: DepositCursor): Query<boolean> {
  return {
    name: 'move_deposit_cursor',
    text: `update deposit_cursors set block_number = $4, block_hash = $5
      where mode = $1 and block_number = $2 and block_hash = $3`,
    values: [mode, from.blockNumber, from.blockHash, to.blockNumber, to.blockHash],
    read: changed,
  }
}

/** Sorts after every deposit's id: those have a digit after the prefix. */
const AFTER_ALL = 'dep_Z'

export interface NewDeposits {
  readonly mode: Mode
  readonly createdAt: Date
  readonly deposits: readonly (NumberedTransfer & Pick<Deposit, 'id'>)[]
}

/**
 * Inserts deposits and returns the new ones. Deposits that are already stored (`deposits_once`) and transfers to
 * addresses that are not wallets of the mode (`wallets_by_address`) are left out.
 */
export function insertDeposits({ mode, createdAt, deposits }: NewDeposits): Query<Deposit[]> {
  return {
    name: 'insert_deposits',
    text: `insert into deposits (account_id, id, mode, wallet_address, from_address, amount_micro, tx_hash, position,
        block_number, block_hash, created_at)
      select w.account_id, t.id, w.mode, w.address, t.from_address, t.amount_micro, t.tx_hash, t.position,
        t.block_number, t.block_hash, $2
      from unnest($3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[], $8::integer[], $9::bigint[],
          $10::text[])
        as t (id, wallet_address, from_address, amount_micro, tx_hash, position, block_number, block_hash)
      join wallets w on w.address = t.wallet_address and w.mode = $1
      on conflict (mode, tx_hash, wallet_address, position) do nothing
      returning ${COLUMNS}`,
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

/** Newest first. Those of one wallet by `deposits_of_wallet`, all of them by `deposits_listed`. */
export function listDepositRows({
  accountId,
  mode,
  wallet,
  before,
  limit,
}: {
  accountId: string
  mode: Mode
  wallet: Address | null
  before: string | null
  limit: number
}): Query<Deposit[]> {
  const values = [accountId, mode, before ?? AFTER_ALL, limit]
  return wallet === null
    ? { name: 'list_deposits', text: listText('true'), values, read: all(DEPOSIT_ROW, toDeposit) }
    : {
        name: 'list_deposits_of_wallet',
        text: listText('wallet_address = $5'),
        values: [...values, wallet],
        read: all(DEPOSIT_ROW, toDeposit),
      }
}

function listText(condition: string): string {
  return `select ${COLUMNS} from deposits
    where account_id = $1 and mode = $2 and id < $3 and ${condition} order by id desc limit $4`
}

function toDeposit(row: RowOf<typeof DEPOSIT_ROW>): Deposit {
  return {
    accountId: row.account_id,
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
