import { randomBytes } from 'node:crypto'
import type { QueryResultRow as Row } from 'pg'
import type { Context } from '../../../server/src/domain/context.ts'
import type { DepositCursor } from '../../../server/src/domain/deposits/deposit.ts'
import { findCursor } from '../../../server/src/domain/deposits/deposits-store.ts'
import type { Address } from '../../../server/src/values/address.ts'
import type { FakeChain, FakeLog } from '../wires/fake-chain.ts'
import { readRows } from '../database/read-rows.ts'
import { RECIPIENT } from './seed.ts'

type Hex = `0x${string}`

export function makeTxHash(): Hex {
  return `0x${randomBytes(32).toString('hex')}`
}

/** A transfer of USDC stands in the fake chain, in its head unless told otherwise. */
export function pay(ctx: Context, chain: FakeChain, change: Partial<FakeLog> & Pick<FakeLog, 'to'>): FakeLog {
  const { usdc } = ctx.chains.test
  const log = { txHash: makeTxHash(), contract: usdc, from: RECIPIENT, amountMicro: 1_500_000n, ...change }
  const placed = { blockNumber: chain.head, ...log }
  chain.logs.push(placed)
  return placed
}

/** The test mode's. */
export async function readCursor(ctx: Pick<Context, 'db'>): Promise<DepositCursor | null> {
  return await ctx.db.runRelaxed(findCursor('test'))
}

/** A wallet's, in the order of their blocks, each with its transaction, its place and its block. */
export async function listDeposits(ctx: Pick<Context, 'db'>, wallet: Address): Promise<Row[]> {
  return await readRows(
    ctx.db,
    `select tx_hash, position, block_number::integer as block_number, amount_micro from deposits
      where wallet_address = $1 order by block_number, tx_hash, position`,
    [wallet],
  )
}

/** The transactions that `inbound.received` has told of for a wallet, as often as it has. */
export async function listToldDeposits(ctx: Pick<Context, 'db'>, wallet: Address): Promise<string[]> {
  const rows = await readRows(
    ctx.db,
    `select data -> 'deposit' ->> 'tx_hash' as tx_hash from events
      where type = 'inbound.received' and data -> 'deposit' ->> 'wallet' = $1 order by id`,
    [wallet],
  )
  return rows.map((row) => String(row['tx_hash']))
}
