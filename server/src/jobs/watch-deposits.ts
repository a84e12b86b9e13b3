import { ChainBehind } from '../chain/errors.ts'
import type { Context } from '../domain/context.ts'
import { BLOCKS_MAX, followDeposits } from '../domain/deposits/follow-deposits.ts'
import type { Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'
import { startLeasedLoop, type RenewLease } from './start-leased-loop.ts'

const INTERVAL_MS = 1_000
/** If two processes read at the same time, it does no harm: only one of them moves the cursor. */
const LEASE_MS = 15_000
/** The most chunks that one round reads, including refused ones. The next round continues after a long gap. */
const CHUNKS_PER_ROUND_MAX = 10
/** How many rounds to wait for a block that a node has reported but no node returns, before that is a failure. */
const BEHIND_ROUNDS_MAX = 10

/** Records the deposits of one mode when their blocks are deep enough, in the one process that holds the lease. */
export function watchDeposits(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const chain = ctx.chains[mode]
  let blocksMax = BLOCKS_MAX
  let behindRounds = 0
  const readChunks = async (confirmedBlock: bigint, signal: AbortSignal, renewLease: RenewLease): Promise<void> => {
    for (let chunk = 0; chunk < CHUNKS_PER_ROUND_MAX && !signal.aborted; chunk += 1) {
      const progress = await followDeposits(ctx, { mode, confirmedBlock, blocksMax })
      blocksMax = progress.blocksMax
      if (progress.isCaughtUp) return
      if (!(await renewLease())) return
    }
  }
  const options = { name: `deposits:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    const deepEnough = (await chain.readRecentHead()) - BigInt(chain.confirmations) + 1n
    // A chain with fewer blocks than its depth is read from its first block, which contains no payments.
    const confirmedBlock = deepEnough < 0n ? 0n : deepEnough
    try {
      await readChunks(confirmedBlock, signal, renewLease)
      behindRounds = 0
    } catch (error) {
      behindRounds += 1
      if (!(error instanceof ChainBehind) || behindRounds > BEHIND_ROUNDS_MAX) throw error
    }
  })
}
