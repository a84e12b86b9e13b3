import { computed, narrow, nullable, pick } from '../../../db/column.ts'
import { textOfMode } from '../../../db/bounded-scan-query.ts'
import { all, firstOrNull, one, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Month } from '../../months/month.ts'
import { WALLETS_LISTED_MAX } from '../../wallets/wallet.ts'
import { UNSETTLED_COUNTED_MAX, type MonthRange, type MovementSum, type MovementType } from './statement.ts'

const {
  month_blocks: blocks,
  month_balances: balances,
  wallets,
  deposit_cursors: deposits,
  ledger_cursors: ledgers,
} = tables

/** A wallet of a workspace. */
export interface WalletPlace {
  readonly workspaceId: string
  readonly mode: Mode
  readonly wallet: Address
}

/** What is stored about a month of a wallet. Everything is null that is not known. */
export interface MonthFacts {
  readonly firstBlock: bigint | null
  readonly nextFirstBlock: bigint | null
  readonly isNextFinal: boolean
  readonly openingMicro: bigint | null
  readonly closingMicro: bigint | null
  /** The last block whose deposits were read twice, and the last one whose transfers were compared with payments. */
  readonly readTo: bigint | null
}

const FACTS_ROW = {
  first_block: nullable(blocks.first_block),
  next_first_block: nullable(blocks.first_block),
  is_final: nullable(blocks.is_final),
  opening_micro: nullable(balances.balance_micro),
  closing_micro: nullable(balances.balance_micro),
  reread_block: nullable(deposits.reread_block),
  ledger_block: nullable(ledgers.block_number),
}

const balanceOf = (name: string, block: string): string =>
  `left join month_balances ${name} on ${name}.workspace_id = $1 and ${name}.mode = $2 and ${name}.wallet_address = $3
    and ${name}.month = ${block}.month and ${name}.block_hash = ${block}.parent_hash`

/** Finds what is stored about a month of a wallet, and about the next month. Uses primary keys. */
export function findMonthFacts(
  { workspaceId, mode, wallet }: WalletPlace,
  { month, next }: { month: Month; next: Month },
): Query<MonthFacts> {
  return {
    name: 'find_month_facts',
    text: `select m.first_block, n.first_block as next_first_block, n.is_final, o.balance_micro as opening_micro,
        c.balance_micro as closing_micro, d.reread_block, l.block_number as ledger_block
      from (select 1) one
      left join month_blocks m on m.mode = $2 and m.month = $4
      left join month_blocks n on n.mode = $2 and n.month = $5
      ${balanceOf('o', 'm')}
      ${balanceOf('c', 'n')}
      left join deposit_cursors d on d.mode = $2
      left join ledger_cursors l on l.mode = $2`,
    values: [workspaceId, mode, wallet, month, next],
    read: one(FACTS_ROW, (row): MonthFacts => {
      const [reread, compared] = [toBigInt(row.reread_block), toBigInt(row.ledger_block)]
      return {
        firstBlock: toBigInt(row.first_block),
        nextFirstBlock: toBigInt(row.next_first_block),
        isNextFinal: row.is_final === true,
        openingMicro: toBigInt(row.opening_micro),
        closingMicro: toBigInt(row.closing_micro),
        readTo: reread === null || compared === null ? null : reread < compared ? reread : compared,
      }
    }),
  }
}

export interface EarlierBalance {
  readonly month: Month
  readonly firstBlock: bigint
  readonly balanceMicro: bigint
}

/** Finds the newest balance that was recorded before a month. Uses primary keys. */
export function findEarlierBalance(
  { workspaceId, mode, wallet }: WalletPlace,
  month: Month,
): Query<EarlierBalance | null> {
  return {
    name: 'find_earlier_balance',
    text: `select b.month, m.first_block, b.balance_micro from month_balances b
      join month_blocks m on m.mode = b.mode and m.month = b.month and m.parent_hash = b.block_hash
      where b.workspace_id = $1 and b.mode = $2 and b.wallet_address = $3 and b.month < $4
      order by b.month desc limit 1`,
    values: [workspaceId, mode, wallet, month],
    read: firstOrNull(
      { month: narrow<Month>(balances.month), first_block: blocks.first_block, balance_micro: balances.balance_micro },
      (row) => ({
        month: row.month,
        firstBlock: BigInt(row.first_block),
        balanceMicro: BigInt(row.balance_micro),
      }),
    ),
  }
}

/** The last block of a range. While the month is not over, the range has no end. */
const NO_END = 2n ** 63n - 1n

export function lastBlockOf({ toBlock }: Pick<MonthRange, 'toBlock'>): bigint {
  return toBlock ?? NO_END
}

/** A payment to its own wallet moves nothing. */
export const MOVED = `case when to_address = wallet_address then 0 else amount_micro end`

const sumText = textOfMode('sum_movements', (mode) => {
  const ofWallet = `workspace_id = $1 and mode = ${mode} and wallet_address = $2`
  const ofBlocks = (column: string): string => `${ofWallet} and ${column} >= $3 and ${column} <= $4`
  return `select case kind when 'transfer' then 'payment' when 'x402' then 'purchase' else kind end as type,
      count(*) as movements, sum(${MOVED}) as amount_micro, coalesce(sum(gas_wei), 0) as gas_wei
    from payments where ${ofBlocks('mined_block')} and status = 'confirmed' group by kind
    union all select 'failed_payment', count(*), 0, coalesce(sum(gas_wei), 0)
    from payments where ${ofBlocks('mined_block')} and status = 'failed' and gas_wei is not null having count(*) > 0
    union all select 'deposit', count(*), sum(amount_micro), 0
    from deposits where ${ofBlocks('block_number')} and vanished_at is null having count(*) > 0
    union all select 'unexplained_transfer', count(*), sum(${MOVED}), 0
    from unexplained_transfers where ${ofWallet} and payment_id is null and mined_at >= $5 and mined_at < $6
    having count(*) > 0`
})

const SUM_ROW = {
  type: narrow<MovementType>(computed.text),
  movements: computed.int8,
  amount_micro: computed.numeric,
  gas_wei: computed.numeric,
}

/**
 * Sums the movements of a wallet, by type. Uses the indexes `payments_confirmed_by_block`, `payments_failed_with_gas`,
 * `deposits_by_block` and `unexplained_transfers_of_wallet`.
 */
export function sumMovements({ workspaceId, mode, wallet }: WalletPlace, range: MonthRange): Query<MovementSum[]> {
  return {
    ...sumText(mode),
    values: [workspaceId, wallet, range.fromBlock, lastBlockOf(range), range.from, range.to],
    read: all(SUM_ROW, (row) => ({
      type: row.type,
      movements: Number(row.movements),
      amountMicro: BigInt(row.amount_micro),
      gasWei: BigInt(row.gas_wei),
    })),
  }
}

/**
 * Counts the payments of a wallet that were requested before a time and are pending, at most `UNSETTLED_COUNTED_MAX`.
 * Uses the index `payments_holding_balance`.
 */
export function countPendingBefore({ workspaceId, mode, wallet }: WalletPlace, before: Date): Query<number> {
  return {
    name: 'count_pending_before',
    text: `select count(*) as pending from (
        select 1 from payments where workspace_id = $1 and mode = $2 and wallet_address = $3 and settled_at is null
          and created_at < $4 limit ${UNSETTLED_COUNTED_MAX}
      ) found`,
    values: [workspaceId, mode, wallet, before],
    read: one({ pending: computed.int8 }, (row) => Number(row.pending)),
  }
}

export interface ListedStatement {
  readonly wallet: Address
  readonly walletName: string
  readonly createdAt: Date
  readonly openingMicro: bigint | null
  readonly closingMicro: bigint | null
}

/**
 * Lists the wallets of a workspace and mode that were created before a time, the oldest first, with the balances that
 * were recorded at the beginning of two months. Uses primary keys.
 */
export function listMonthStatements(
  { workspaceId, mode }: Omit<WalletPlace, 'wallet'>,
  { month, next, createdBefore }: { month: Month; next: Month; createdBefore: Date },
): Query<ListedStatement[]> {
  const recorded = (month: string): string => `(
    select b.balance_micro from month_balances b join month_blocks m on m.mode = b.mode and m.month = b.month
      and m.parent_hash = b.block_hash
    where b.workspace_id = $1 and b.mode = $2 and b.wallet_address = w.address and b.month = ${month})`
  return {
    name: 'list_month_statements',
    text: `select w.address, w.name, w.created_at, ${recorded('$3')} as opening_micro, ${recorded('$4')} as closing_micro
      from wallets w where w.workspace_id = $1 and w.mode = $2 and w.created_at < $5
      order by w.created_at, w.address limit ${WALLETS_LISTED_MAX}`,
    values: [workspaceId, mode, month, next, createdBefore],
    read: all(
      {
        address: narrow<Address>(wallets.address),
        ...pick(wallets, 'name', 'created_at'),
        opening_micro: nullable(computed.numeric),
        closing_micro: nullable(computed.numeric),
      },
      (row): ListedStatement => ({
        wallet: row.address,
        walletName: row.name,
        createdAt: row.created_at,
        openingMicro: toBigInt(row.opening_micro),
        closingMicro: toBigInt(row.closing_micro),
      }),
    ),
  }
}

function toBigInt(value: string | null): bigint | null {
  return value === null ? null : BigInt(value)
}
