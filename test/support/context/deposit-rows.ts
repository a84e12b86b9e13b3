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

/** Adds a transfer of USDC to the fake chain, in its head block by default. */
export function pay(ctx: Context, chain: FakeChain, change: Partial<FakeLog> & Pick<FakeLog, 'to'>): FakeLog {
  const { usdc } = ctx.chains.test
  const log = { txHash: makeTxHash(), contract: usdc, from: RECIPIENT, amountMicro: 1_500_000n, ...change }
  const placed = { blockNumber: chain.head, ...log }
  chain.logs.push(placed)
  return placed
}

/** Reads the cursor of the test chain. */
export async function readCursor(ctx: Pick<Context, 'db'>): Promise<DepositCursor | null> {
  return await ctx.db.runRelaxed(findCursor('test'))
}

/** Lists a wallet's deposits by block, each with its transaction, log index and block. */
export async function listDeposits(ctx: Pick<Context, 'db'>, wallet: Address): Promise<Row[]> {
  return await readRows(
    ctx.db,
    `select tx_hash, position, block_number::integer as block_number, amount_micro from deposits
      where wallet_address = $1 order by block_number, tx_hash, position`,
    [wallet],
  )
}

/** Lists the transactions in the wallet's `inbound.received` events, one entry per event. */
export async function listToldDeposits(ctx: Pick<Context, 'db'>, wallet: Address): Promise<string[]> {
  const rows = await readRows(
    ctx.db,
    `select data -> 'deposit' ->> 'tx_hash' as tx_hash from events
      where type = 'inbound.received' and data -> 'deposit' ->> 'wallet' = $1 order by id`,
    [wallet],
  )
  return rows.map((row) => String(row['tx_hash']))
}
