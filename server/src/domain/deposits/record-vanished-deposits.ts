import type { BlockRange } from '../../chain/block-ranges.ts'
import { RECEIPTS_PER_BATCH_MAX } from '../../chain/open-chain.ts'
import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { listDepositsIn, markVanished, type DepositPlace } from './deposits-store.ts'

/** More deposits than this in the blocks of one reorganization are not checked. */
const CHECKED_MAX = 10_000

/**
 * Marks the deposits of blocks that a reorganization may have replaced, if the chain has no receipt of their
 * transactions any more. `found` are the transfers that were just read in these blocks. Such a deposit was reported already, but does not count in statements (D90). If its transaction
 * is mined later, it counts again. @throws ChainUnavailable
 */
export async function recordVanishedDeposits(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>,
  { mode, range, found }: { mode: Mode; range: BlockRange; found: readonly Pick<LoggedTransfer, 'txHash'>[] },
): Promise<void> {
  const known = new Set(found.map(({ txHash }) => txHash))
  const stored: DepositPlace[] = await ctx.db.readSlow(listDepositsIn(mode, range, CHECKED_MAX))
  const deposits = stored.filter(({ txHash }) => !known.has(txHash))
  for (let start = 0; start < deposits.length; start += RECEIPTS_PER_BATCH_MAX) {
    const some = deposits.slice(start, start + RECEIPTS_PER_BATCH_MAX)
    const receipts = await ctx.chains[mode].readReceipts([...new Set(some.map(({ txHash }) => txHash))])
    for (const deposit of some.filter(({ txHash }) => receipts.get(txHash)?.status !== 'success')) {
      await ctx.db.write(markVanished(deposit, ctx.clock.now()))
      ctx.logger.warn({ mode, deposit: deposit.id, tx: deposit.txHash }, 'the chain no longer contains a deposit')
    }
  }
}
