import { randomBytes } from 'node:crypto'
import type { QueryResultRow as Row } from 'pg'
import type { Context } from '../../../server/src/domain/context.ts'
import type { Deposit, DepositCursor } from '../../../server/src/domain/deposits/deposit.ts'
import { findCursor, insertDeposits } from '../../../server/src/domain/deposits/deposits-store.ts'
import type { Address } from '../../../server/src/values/address.ts'
import { createId } from '../../../server/src/values/ids.ts'
import { microUsdc, type MicroUsdc } from '../../../server/src/values/money.ts'
import type { FakeChain, FakeLog } from '../wires/fake-chain.ts'
import { readRows } from '../database/read-rows.ts'
import { RECIPIENT, type Seed } from './seed.ts'

type Hex = `0x${string}`

export function makeTxHash(): Hex {
  return `0x${randomBytes(32).toString('hex')}`
}

/** Adds a transfer of USDC to the fake chain, by default in its last block. */
export function pay(ctx: Context, chain: FakeChain, change: Partial<FakeLog> & Pick<FakeLog, 'to'>): FakeLog {
  const { usdc } = ctx.chains.test
  const log = { txHash: makeTxHash(), contract: usdc, from: RECIPIENT, amountMicro: 1_500_000n, ...change }
  const placed = { blockNumber: chain.head, ...log }
  chain.logs.push(placed)
  return placed
}

/** Inserts a deposit to the seeded wallet as if it had been found at a given time, without its event. */
export async function seedDeposit(
  ctx: Context,
  { mode, wallet }: Pick<Seed, 'mode' | 'wallet'>,
  {
    at = ctx.clock.now(),
    amountMicro = microUsdc(1_500_000n),
    blockNumber = 100n,
  }: { readonly at?: Date; readonly amountMicro?: MicroUsdc; readonly blockNumber?: bigint } = {},
): Promise<Deposit> {
  const place = { blockNumber, blockHash: makeTxHash(), logIndex: 0n, position: 0 }
  const transfer = { contract: ctx.chains[mode].usdc, from: RECIPIENT, to: wallet, amountMicro, txHash: makeTxHash() }
  const [deposit] = await ctx.db.write(
    insertDeposits({ mode, createdAt: at, deposits: [{ id: createId('deposit', at), ...transfer, ...place }] }),
  )
  if (deposit === undefined) throw new Error('the deposit was not inserted')
  return deposit
}

/** Reads how far the service has read the test chain's blocks. */
export async function readCursor(ctx: Pick<Context, 'db'>): Promise<DepositCursor | null> {
  const found = await ctx.db.read(findCursor('test'))
  return found === null ? null : { blockNumber: found.blockNumber, blockHash: found.blockHash }
}

/** Lists a wallet's deposits by block. Each has its transaction, its position in the transaction, block and amount. */
export async function listDeposits(ctx: Pick<Context, 'db'>, wallet: Address): Promise<Row[]> {
  return await readRows(
    ctx.db,
    `select tx_hash, position, block_number::integer as block_number, amount_micro from deposits
      where wallet_address = $1 order by block_number, tx_hash, position`,
    [wallet],
  )
}

/** Lists the transactions that the wallet's `inbound.received` events report, one entry per event. */
export async function listToldDeposits(ctx: Pick<Context, 'db'>, wallet: Address): Promise<string[]> {
  const rows = await readRows(
    ctx.db,
    `select data -> 'deposit' ->> 'tx_hash' as tx_hash from events
      where type = 'inbound.received' and data -> 'deposit' ->> 'wallet' = $1 order by id`,
    [wallet],
  )
  return rows.map((row) => String(row['tx_hash']))
}
