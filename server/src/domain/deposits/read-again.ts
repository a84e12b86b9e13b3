import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { moveRereadBlock } from './deposits-store.ts'
import { chooseRecipients, readTransfers } from './read-transfers.ts'
import { recordDeposits } from './record-deposits.ts'

/**
 * How deep a block is at least when it is read again. The machines behind one address of a node differ by a few blocks,
 * and reorganizations are less deep. On Base, this is a minute.
 */
export const REREAD_DEPTH = 30n
/** The second reading waits for this many blocks, so that it causes few requests. */
export const REREAD_BLOCKS_MIN = 30n

/**
 * Reads the next blocks of the mode's chain a second time, and records the deposits that the first reading missed. One
 * answer of a node may leave out a log, for example because the machine that responded had not indexed its newest block
 * yet. So the second reading comes later, and has nothing in common with the first one: new blocks are usually read one
 * by one by their hashes, these in a range of blocks; the first reading asks the first node first, this one the last.
 * Returns whether nothing is left to read now. Throws `ChainUnavailable`.
 */
export async function readAgain(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>,
  { mode, rereadBlock, confirmedBlock }: { mode: Mode; rereadBlock: bigint; confirmedBlock: bigint },
): Promise<boolean> {
  const range = { from: rereadBlock + 1n, to: confirmedBlock - REREAD_DEPTH }
  if (range.to - range.from + 1n < REREAD_BLOCKS_MIN) return true
  const recipients = await chooseRecipients(ctx, mode)
  const read = await readTransfers(ctx, { mode, range, recipients, isSecond: true })
  const hold = moveRereadBlock(mode, { from: rereadBlock, to: rereadBlock })
  const move = moveRereadBlock(mode, { from: rereadBlock, to: read.to })
  const missed = await recordDeposits(ctx, { mode, transfers: read.transfers, progress: { hold, move } })
  for (const { wallet, txHash } of missed ?? [])
    ctx.logger.warn({ mode, wallet, tx: txHash }, 'a node had left out a deposit; the second reading found it')
  return read.to >= range.to
}
