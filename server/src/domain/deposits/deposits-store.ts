import type { Hash } from 'viem'
import { all, changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import type { Deposit, DepositCursor, PlacedTransfer } from './deposit.ts'

const COLUMNS = `account_id, id, mode, wallet_address, from_address, amount_micro, tx_hash, position, block_number,
  created_at`

/** By the primary key. Null before the chain was ever read. */
export function findCursor(mode: Mode): Query<DepositCursor | null> {
  return {
    name: 'find_deposit_cursor',
    text: 'select block_number, block_hash from deposit_cursors where mode = $1',
    values: [mode],
    read: firstOrNull((row) => ({
      blockNumber: BigInt(row['block_number']),
      blockHash: row['block_hash'] as Hash,
    })),
  }
}

/** False when there is a cursor already: the first process to come decides where reading begins. */
export function insertCursor(mode: Mode, cursor: DepositCursor): Query<boolean> {
  return {
    name: 'insert_deposit_cursor',
    text: `insert into deposit_cursors (mode, block_number, block_hash) values ($1, $2, $3)
      on conflict (mode) do nothing`,
    values: [mode, cursor.blockNumber, cursor.blockHash],
    read: changed,
  }
}

/** Compare and set; false when another process has moved it. Whoever moves it, if to the same place, has its lock. */
export function moveCursor(mode: Mode, from: DepositCursor, to: DepositCursor): Query<boolean> {
  return {
    name: 'move_deposit_cursor',
    text: `update deposit_cursors set block_number = $4, block_hash = $5
      where mode = $1 and block_number = $2 and block_hash = $3`,
    values: [mode, from.blockNumber, from.blockHash, to.blockNumber, to.blockHash],
    read: changed,
  }
}

/** Sorts after every id of a deposit: behind the prefix those begin with a digit. */
const AFTER_ALL = 'dep_Z'

export interface NewDeposits {
  readonly mode: Mode
  readonly createdAt: Date
  readonly deposits: readonly (PlacedTransfer & Pick<Deposit, 'id'>)[]
}

/**
 * Answers those that are new: a deposit that is known already (`deposits_once`), and a transfer to an address that is no
 * wallet of the mode (`wallets_by_address`), are left out.
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
    read: all(toDeposit),
  }
}

/** Newest first: those of a wallet by `deposits_of_wallet`, all by `deposits_listed`. */
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
    ? { name: 'list_deposits', text: listText('true'), values, read: all(toDeposit) }
    : {
        name: 'list_deposits_of_wallet',
        text: listText('wallet_address = $5'),
        values: [...values, wallet],
        read: all(toDeposit),
      }
}

function listText(condition: string): string {
  return `select ${COLUMNS} from deposits
    where account_id = $1 and mode = $2 and id < $3 and ${condition} order by id desc limit $4`
}

function toDeposit(row: Row): Deposit {
  return {
    accountId: row['account_id'],
    id: row['id'],
    mode: row['mode'],
    wallet: row['wallet_address'] as Address,
    from: row['from_address'] as Address,
    amountMicro: microUsdc(BigInt(row['amount_micro'])),
    txHash: row['tx_hash'] as Hash,
    position: row['position'],
    blockNumber: BigInt(row['block_number']),
    createdAt: row['created_at'],
  }
}
