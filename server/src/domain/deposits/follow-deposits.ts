import { ChainBehind, ChainUnavailable } from '../../chain/errors.ts'
import type { TransfersRead } from '../../chain/transfer-reader.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { DepositCursor } from './deposit.ts'
import { chooseRecipients, readTransfers, type BlockRange, type Recipients } from './read-transfers.ts'
import { recordDeposits } from './record-deposits.ts'
import { findCursor, insertCursor } from './deposits-store.ts'

/** How many blocks are read at once. */
export const BLOCKS_MAX = 1_000
/** How many when all transfers are read: a block on Base has a few hundred, and providers return at most 10,000. */
export const BLOCKS_PER_FULL_READ_MAX = 50
/** After a node refused a range, the range grows again by a tenth each time, so that the node's limit is rarely met. */
const GROWTH_DIVISOR = 10
/** The machines behind one node differ by a block or two: how many of the newest blocks may be left for the next round. */
const BLOCKS_BEHIND_MAX = 3
/** The deepest reorganization that is handled. The chains that we support have none deeper. */
const REORGANIZED_BLOCKS_MAX = 128n

type FollowContext = Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>

export interface Progress {
  /** Whether everything was read: the cursor is at the newest block that is deep enough and that the nodes have. */
  readonly isCaughtUp: boolean
  /** How many blocks to read next time. */
  readonly blocksMax: number
}

/** The next blocks to read after the cursor. */
interface NextBlocks {
  readonly mode: Mode
  readonly cursor: DepositCursor
  readonly recipients: Recipients
  readonly confirmedBlock: bigint
  readonly blocksMax: number
}

/**
 * Reads the next blocks after the mode's cursor, records their deposits and moves the cursor. Reads at most `blocksMax`
 * blocks, and none above `confirmedBlock`, the newest block that is deep enough (D28). If no node accepts so many blocks,
 * it reads nothing and returns half as many for the next call. Throws `ChainUnavailable` if no node returns even a single
 * block, and `ChainBehind` if none has the next block yet.
 *
 * Without a cursor, reading starts after `confirmedBlock`. If the next block does not continue the cursor's block, there
 * was a reorganization: the blocks below are read again, and deposits that are already recorded are not recorded twice.
 *
 * The caller must read `confirmedBlock` before this lists the wallets. A wallet that is created after that can receive
 * money only in a later block.
 */
export async function followDeposits(
  ctx: FollowContext,
  { mode, confirmedBlock, blocksMax }: { mode: Mode; confirmedBlock: bigint; blocksMax: number },
): Promise<Progress> {
  const cursor = await ctx.db.runRelaxed(findCursor(mode))
  if (cursor === null) {
    await startAt(ctx, mode, confirmedBlock)
    return { isCaughtUp: true, blocksMax }
  }
  if (cursor.blockNumber >= confirmedBlock) return { isCaughtUp: true, blocksMax }
  const recipients = await chooseRecipients(ctx, mode)
  const widest = recipients === null ? Math.min(blocksMax, BLOCKS_PER_FULL_READ_MAX) : blocksMax
  const nextBlocks = { mode, cursor, recipients, confirmedBlock, blocksMax: widest }
  try {
    const isCaughtUp = await recordNextBlocks(ctx, nextBlocks)
    return { isCaughtUp, blocksMax: isCaughtUp ? blocksMax : grow(blocksMax) }
  } catch (error) {
    const blocks = Number(smaller(confirmedBlock - cursor.blockNumber, BigInt(widest)))
    if (!(error instanceof ChainUnavailable) || blocks === 1) throw error
    return { isCaughtUp: false, blocksMax: Math.ceil(blocks / 2) }
  }
}

function grow(blocksMax: number): number {
  return Math.min(blocksMax + Math.ceil(blocksMax / GROWTH_DIVISOR), BLOCKS_MAX)
}

async function startAt(ctx: Pick<Context, 'db' | 'chains'>, mode: Mode, blockNumber: bigint): Promise<void> {
  const blockHash = await ctx.chains[mode].readBlockHash(blockNumber)
  await ctx.db.runDurable(insertCursor(mode, { blockNumber, blockHash }))
}

/** Returns whether everything was read. If the node does not have the newest block yet, the blocks before it are read. */
async function recordNextBlocks(ctx: FollowContext, nextBlocks: NextBlocks): Promise<boolean> {
  const { mode, cursor } = nextBlocks
  let { confirmedBlock } = nextBlocks
  for (let behind = 0; ; behind += 1) {
    try {
      const { range, read } = await readNextBlocks(ctx, { ...nextBlocks, confirmedBlock })
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

async function readNextBlocks(
  ctx: FollowContext,
  { mode, cursor, recipients, confirmedBlock, blocksMax }: NextBlocks,
): Promise<{ range: BlockRange; read: TransfersRead }> {
  const rangeFrom = (from: bigint): BlockRange => ({ from, to: smaller(from + BigInt(blocksMax) - 1n, confirmedBlock) })
  const next = rangeFrom(cursor.blockNumber + 1n)
  const read = await readTransfers(ctx, { mode, range: next, recipients })
  if (read.parentHash === cursor.blockHash) return { range: next, read }
  const again = rangeFrom(larger(cursor.blockNumber - REORGANIZED_BLOCKS_MAX + 1n, 1n))
  ctx.logger.warn({ mode, block: String(cursor.blockNumber) }, 'the chain reorganized; deposits are read again')
  return { range: again, read: await readTransfers(ctx, { mode, range: again, recipients }) }
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
