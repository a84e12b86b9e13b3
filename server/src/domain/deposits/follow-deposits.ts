import { ChainBehind, ChainUnavailable } from '../../chain/errors.ts'
import type { TransfersRead } from '../../chain/transfer-reader.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { DepositCursor } from './deposit.ts'
import { chooseRecipients, readTransfers, type BlockRange, type Recipients } from './read-transfers.ts'
import { recordDeposits } from './record-deposits.ts'
import { findCursor, insertCursor } from './deposits-store.ts'

/** So many blocks are read at once at the most. */
export const BLOCKS_MAX = 1_000
/** And so many when everybody's transfers are read: Base has some hundred in a block, and providers return 10,000 at most. */
export const BLOCKS_PER_FULL_READ_MAX = 50
/** After a refusal the range grows again by a tenth a time: a node's own limit is run into now and then only. */
const GROWTH_DIVISOR = 10
/** A node's machines differ by a block or two: how many of the newest blocks are left for later when one lacks them. */
const BLOCKS_BEHIND_MAX = 3
/** Deeper reorganizations than this a chain does not have; what they would bring is not looked for. */
const REORGANIZED_BLOCKS_MAX = 128n

type FollowContext = Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>

export interface Progress {
  /** Whether the cursor stands at the newest block that is deep enough, and that the nodes have. */
  readonly isThere: boolean
  /** How many blocks to ask for the next time. */
  readonly blocksMax: number
}

/** The blocks after the cursor that are to be read. */
interface Stretch {
  readonly mode: Mode
  readonly cursor: DepositCursor
  readonly recipients: Recipients
  readonly confirmedBlock: bigint
  readonly blocksMax: number
}

/**
 * Reads the next blocks after the mode's cursor, at most `blocksMax`, and none above `confirmedBlock`, the newest that is
 * deep enough (D28); records the deposits in them and moves the cursor. When no node answers for so many blocks, nothing
 * is read, and half as many are to be asked for. Throws `ChainUnavailable` when none answers for a single one, and
 * `ChainBehind` when none has the next one yet.
 *
 * The first time of all, reading begins after `confirmedBlock`. When the chain does not go on from where the cursor
 * stands, there was a reorganization: the blocks below are read again, and what is known stays known once.
 *
 * `confirmedBlock` must be read before: whoever gets a wallet's address after this lists the wallets can be paid at it
 * only in a later block.
 */
export async function followDeposits(
  ctx: FollowContext,
  { mode, confirmedBlock, blocksMax }: { mode: Mode; confirmedBlock: bigint; blocksMax: number },
): Promise<Progress> {
  const cursor = await ctx.db.runRelaxed(findCursor(mode))
  if (cursor === null) {
    await startAt(ctx, mode, confirmedBlock)
    return { isThere: true, blocksMax }
  }
  if (cursor.blockNumber >= confirmedBlock) return { isThere: true, blocksMax }
  const recipients = await chooseRecipients(ctx, mode)
  const widest = recipients === null ? Math.min(blocksMax, BLOCKS_PER_FULL_READ_MAX) : blocksMax
  const stretch = { mode, cursor, recipients, confirmedBlock, blocksMax: widest }
  try {
    const isThere = await recordStretch(ctx, stretch)
    return { isThere, blocksMax: isThere ? blocksMax : grow(blocksMax) }
  } catch (error) {
    const blocks = Number(least(confirmedBlock - cursor.blockNumber, BigInt(widest)))
    if (!(error instanceof ChainUnavailable) || blocks === 1) throw error
    return { isThere: false, blocksMax: Math.ceil(blocks / 2) }
  }
}

function grow(blocksMax: number): number {
  return Math.min(blocksMax + Math.ceil(blocksMax / GROWTH_DIVISOR), BLOCKS_MAX)
}

async function startAt(ctx: Pick<Context, 'db' | 'chains'>, mode: Mode, blockNumber: bigint): Promise<void> {
  const blockHash = await ctx.chains[mode].readBlockHash(blockNumber)
  await ctx.db.runDurable(insertCursor(mode, { blockNumber, blockHash }))
}

/** Returns whether the cursor stands at the end then. A node that lacks the newest block is asked for those before it. */
async function recordStretch(ctx: FollowContext, stretch: Stretch): Promise<boolean> {
  const { mode, cursor } = stretch
  let { confirmedBlock } = stretch
  for (let behind = 0; ; behind += 1) {
    try {
      const { range, read } = await readOn(ctx, { ...stretch, confirmedBlock })
      const to = { blockNumber: range.to, blockHash: read.blockHash }
      await recordDeposits(ctx, { mode, transfers: read.transfers, cursor: { from: cursor, to } })
      return range.to >= confirmedBlock
    } catch (error) {
      const isLast = behind === BLOCKS_BEHIND_MAX || confirmedBlock - 1n <= cursor.blockNumber
      if (!(error instanceof ChainBehind) || isLast) throw error
      confirmedBlock -= 1n
    }
  }
}

async function readOn(
  ctx: FollowContext,
  { mode, cursor, recipients, confirmedBlock, blocksMax }: Stretch,
): Promise<{ range: BlockRange; read: TransfersRead }> {
  const rangeFrom = (from: bigint): BlockRange => ({ from, to: least(from + BigInt(blocksMax) - 1n, confirmedBlock) })
  const next = rangeFrom(cursor.blockNumber + 1n)
  const read = await readTransfers(ctx, { mode, range: next, recipients })
  if (read.parentHash === cursor.blockHash) return { range: next, read }
  const again = rangeFrom(most(cursor.blockNumber - REORGANIZED_BLOCKS_MAX + 1n, 1n))
  ctx.logger.warn({ mode, block: String(cursor.blockNumber) }, 'the chain took blocks back; deposits are read again')
  return { range: again, read: await readTransfers(ctx, { mode, range: again, recipients }) }
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
