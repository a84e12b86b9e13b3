import { ChainUnavailable } from '../../chain/errors.ts'
import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import { RECIPIENTS_PER_READ_MAX, type TransfersRead } from '../../chain/transfer-reader.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { listAddresses } from '../wallets/store.ts'
import type { DepositCursor } from './deposit.ts'
import { recordDeposits } from './record-deposits.ts'
import { findCursor, insertCursor } from './store.ts'

/** So many blocks are read at once at the most. */
export const BLOCKS_MAX = 1_000
/** After a refusal the range grows again by a tenth a time: a node's own limit is run into now and then only. */
const GROWTH_DIVISOR = 10
/** Deeper reorganizations than this a chain does not have; what they would bring is not looked for. */
const REORGANIZED_BLOCKS_MAX = 128n

type Range = { readonly from: bigint; readonly to: bigint }

export interface Progress {
  /** Whether the cursor stands at the newest block that is deep enough. */
  readonly isThere: boolean
  /** How many blocks to ask for the next time. */
  readonly blocksMax: number
}

/**
 * Reads the next blocks after the mode's cursor, at most `blocksMax`, and none above `confirmedBlock`, the newest that is
 * deep enough (D28); records the deposits in them and moves the cursor. When no node answers for so many blocks, nothing
 * is read, and half as many are to be asked for. Throws `ChainUnavailable` when none answers for a single one.
 *
 * The first time of all, reading begins after `confirmedBlock`. When the chain does not go on from where the cursor
 * stands, there was a reorganization: the blocks below are read again, and what is known stays known once.
 *
 * `confirmedBlock` must be read before: whoever gets a wallet's address after this lists the wallets can be paid at it
 * only in a later block.
 */
export async function followDeposits(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>,
  { mode, confirmedBlock, blocksMax }: { mode: Mode; confirmedBlock: bigint; blocksMax: number },
): Promise<Progress> {
  const cursor = await ctx.db.read(findCursor(mode))
  if (cursor === null) {
    await startAt(ctx, mode, confirmedBlock)
    return { isThere: true, blocksMax }
  }
  if (cursor.blockNumber >= confirmedBlock) return { isThere: true, blocksMax }
  const blocks = Number(least(confirmedBlock - cursor.blockNumber, BigInt(blocksMax)))
  try {
    const { range, read } = await readOn(ctx, { mode, cursor, confirmedBlock, blocksMax })
    const to = { blockNumber: range.to, blockHash: read.blockHash }
    await recordDeposits(ctx, { mode, transfers: read.transfers, cursor: { from: cursor, to } })
    const isThere = range.to >= confirmedBlock
    return { isThere, blocksMax: isThere ? blocksMax : grow(blocksMax) }
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || blocks === 1) throw error
    return { isThere: false, blocksMax: Math.ceil(blocks / 2) }
  }
}

function grow(blocksMax: number): number {
  return Math.min(blocksMax + Math.ceil(blocksMax / GROWTH_DIVISOR), BLOCKS_MAX)
}

async function startAt(ctx: Pick<Context, 'db' | 'chains'>, mode: Mode, blockNumber: bigint): Promise<void> {
  const blockHash = await ctx.chains[mode].readBlockHash(blockNumber)
  await ctx.db.write(insertCursor(mode, { blockNumber, blockHash }))
}

async function readOn(
  ctx: Pick<Context, 'db' | 'chains' | 'logger'>,
  {
    mode,
    cursor,
    confirmedBlock,
    blocksMax,
  }: { mode: Mode; cursor: DepositCursor; confirmedBlock: bigint; blocksMax: number },
): Promise<{ range: Range; read: TransfersRead }> {
  const rangeFrom = (from: bigint): Range => ({ from, to: least(from + BigInt(blocksMax) - 1n, confirmedBlock) })
  const next = rangeFrom(cursor.blockNumber + 1n)
  const read = await readTransfers(ctx, mode, next)
  if (read.parentHash === cursor.blockHash) return { range: next, read }
  const again = rangeFrom(most(cursor.blockNumber - REORGANIZED_BLOCKS_MAX + 1n, 1n))
  ctx.logger.warn({ mode, block: String(cursor.blockNumber) }, 'the chain took blocks back; deposits are read again')
  return { range: again, read: await readTransfers(ctx, mode, again) }
}

/** To all wallets of the mode, page by page. @throws ChainUnavailable, also when two pages met two forks. */
async function readTransfers(
  { db, chains }: Pick<Context, 'db' | 'chains'>,
  mode: Mode,
  range: Range,
): Promise<TransfersRead> {
  const transfers: LoggedTransfer[] = []
  let fork: TransfersRead | null = null
  for (let last: Address | null = null; ;) {
    const recipients: Address[] = await db.read(listAddresses(mode, last, RECIPIENTS_PER_READ_MAX))
    const read = await chains[mode].readTransfers({ ...range, recipients })
    fork ??= read
    if (read.blockHash !== fork.blockHash || read.parentHash !== fork.parentHash) {
      throw new ChainUnavailable(`the ${mode} chain took blocks back while it was read`)
    }
    transfers.push(...read.transfers)
    last = recipients.at(-1) ?? null
    if (recipients.length < RECIPIENTS_PER_READ_MAX) return { ...fork, transfers }
  }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
