import type { TransfersRead } from '../../chain/transfer-reader.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { DepositCursor } from './deposit.ts'
import { recordVanishedDeposits } from './record-vanished-deposits.ts'
import { readAgain } from './read-again.ts'
import { chooseRecipients, readTransfers, type Recipients } from './read-transfers.ts'
import { cursorMove, recordDeposits } from './record-deposits.ts'
import { findCursor, insertCursor } from './deposits-store.ts'

/** The deepest reorganization that we handle. The chains that we support have no deeper ones. */
const REORGANIZED_BLOCKS_MAX = 128n

type FollowContext = Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>

/** Which blocks to read next, and which transfers to look for in them. */
interface NextBlocks {
  readonly mode: Mode
  readonly cursor: DepositCursor
  readonly recipients: Recipients
  readonly confirmedBlock: bigint
}

/**
 * Reads the next blocks of the mode's chain after the cursor (the last block that was read), records the deposits in
 * them and moves the cursor. Reads as many blocks as nodes return at once, and none above `confirmedBlock`, the newest
 * block that is deep enough (D28). If none is left, reads older blocks a second time. Returns whether nothing is left to
 * read. Throws `ChainUnavailable` if no node returns even a single block, and `ChainBehind` if no node has the next block
 * yet.
 *
 * If the mode has no cursor, reading starts after `confirmedBlock`. If the parent of the next block is not the cursor's
 * block, there was a reorganization. Then the last blocks before the cursor are read again. Deposits that are already
 * recorded are not recorded twice, and those that the chain no longer contains are marked.
 *
 * The caller must have read `confirmedBlock` from the chain before this function lists the wallets. So a wallet that is
 * missing in the list was created after that block, and can receive money only in later blocks.
 */
export async function followDeposits(
  ctx: FollowContext,
  { mode, confirmedBlock }: { mode: Mode; confirmedBlock: bigint },
): Promise<boolean> {
  const cursor = await ctx.db.read(findCursor(mode))
  if (cursor === null) {
    await startAt(ctx, mode, confirmedBlock)
    return true
  }
  if (cursor.blockNumber < confirmedBlock && !(await followNext(ctx, { mode, cursor, confirmedBlock }))) return false
  return await readAgain(ctx, { mode, rereadBlock: cursor.rereadBlock, confirmedBlock })
}

async function followNext(
  ctx: FollowContext,
  { mode, cursor, confirmedBlock }: Omit<NextBlocks, 'recipients'>,
): Promise<boolean> {
  const recipients = await chooseRecipients(ctx, mode)
  const read = await readNextBlocks(ctx, { mode, cursor, recipients, confirmedBlock })
  const to = { blockNumber: read.to, blockHash: read.blockHash }
  // Before the cursor moves: if this fails, the next call finds the reorganization again.
  if (read.isReorganized) {
    const range = { from: read.from, to: cursor.blockNumber }
    await recordVanishedDeposits(ctx, { mode, range, found: read.transfers })
  }
  await recordDeposits(ctx, { mode, transfers: read.transfers, progress: cursorMove(mode, { from: cursor, to }) })
  return read.to >= confirmedBlock
}

async function startAt(ctx: Pick<Context, 'db' | 'chains'>, mode: Mode, blockNumber: bigint): Promise<void> {
  const blockHash = await ctx.chains[mode].readBlockHash(blockNumber)
  await ctx.db.write(insertCursor(mode, { blockNumber, blockHash }))
}

async function readNextBlocks(
  ctx: FollowContext,
  { mode, cursor, recipients, confirmedBlock: to }: NextBlocks,
): Promise<TransfersRead & { readonly from: bigint; readonly isReorganized: boolean }> {
  const from = cursor.blockNumber + 1n
  const read = await readTransfers(ctx, { mode, range: { from, to }, recipients })
  if (read.parentHash === cursor.blockHash) return { ...read, from, isReorganized: false }
  const again = larger(cursor.blockNumber - REORGANIZED_BLOCKS_MAX + 1n, 1n)
  ctx.logger.warn({ mode, block: String(cursor.blockNumber) }, 'the chain reorganized; deposits are read again')
  return {
    ...(await readTransfers(ctx, { mode, range: { from: again, to }, recipients })),
    from: again,
    isReorganized: true,
  }
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
