import { ChainBehind, ChainUnavailable } from '../../chain/errors.ts'
import type { BlockRange } from '../../chain/search-reader.ts'
import type { TransfersRead } from '../../chain/transfer-reader.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { DepositCursor } from './deposit.ts'
import { chooseRecipients, readTransfers, type Recipients } from './read-transfers.ts'
import { recordDeposits } from './record-deposits.ts'
import { findCursor, insertCursor } from './deposits-store.ts'

/** How many blocks are read at once at most. */
export const BLOCKS_MAX = 1_000
/**
 * How many blocks are read at once at most, if we read all USDC transfers and not only those to our wallets. A block on
 * Base has a few hundred transfers, and many nodes return at most 10,000 transfers at once.
 */
export const BLOCKS_PER_FULL_READ_MAX = 50
/**
 * After a node refused a range of blocks, the next ranges grow by a tenth each time. The growth is slow, so that we
 * rarely exceed the node's limit again.
 */
const GROWTH_DIVISOR = 10
/**
 * How many of the newest blocks we may leave for the next round, if a node does not have them yet. The machines behind
 * one node's address differ by a block or two.
 */
const BLOCKS_BEHIND_MAX = 3
/** The deepest reorganization that we handle. The chains that we support have no deeper ones. */
const REORGANIZED_BLOCKS_MAX = 128n

type FollowContext = Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>

export interface Progress {
  /**
   * Whether there is nothing more to read now: the cursor is at the newest block that is deep enough and that the nodes
   * have.
   */
  readonly isCaughtUp: boolean
  /** How many blocks the next call should read at most. */
  readonly blocksMax: number
}

/** Which blocks to read next, and which transfers to look for in them. */
interface NextBlocks {
  readonly mode: Mode
  readonly cursor: DepositCursor
  readonly recipients: Recipients
  readonly confirmedBlock: bigint
  readonly blocksMax: number
}

/**
 * Reads the next blocks of the mode's chain after the cursor (the last block that was read), records the deposits in
 * them and moves the cursor. Reads at most `blocksMax` blocks, and none above `confirmedBlock`, the newest block that
 * is deep enough (D28). If no node returns so many blocks at once, records nothing, and returns half that number as the
 * `blocksMax` of the next call. Throws `ChainUnavailable` if no node returns even a single block, and `ChainBehind` if
 * no node has the next block yet.
 *
 * If the mode has no cursor, reading starts after `confirmedBlock`. If the parent of the next block is not the cursor's
 * block, there was a reorganization. Then the last blocks before the cursor are read again. Deposits that are already
 * recorded are not recorded twice.
 *
 * The caller must have read `confirmedBlock` from the chain before this function lists the wallets. So a wallet that is
 * missing in the list was created after that block, and can receive money only in later blocks.
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

/**
 * Reads the next blocks and records their deposits. If the nodes do not have the newest block yet, reads up to a block
 * before it. Returns whether everything up to the newest available block was read.
 */
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
