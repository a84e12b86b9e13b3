import { ChainBehind } from '../chain/errors.ts'
import type { Context } from '../domain/context.ts'
import { BLOCKS_MAX, followDeposits } from '../domain/deposits/follow-deposits.ts'
import type { Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'
import { startLeasedLoop, type RenewLease } from './start-leased-loop.ts'

const INTERVAL_MS = 1_000
/** Two processes that read at once do no harm: the cursor moves once. */
const LEASE_MS = 15_000
/** A round reads so many chunks at the most, the refused ones with them; after a gap of hours the next ones go on. */
const CHUNKS_PER_ROUND_MAX = 10
/** A block that was named and that no node has is waited for so many rounds before that counts as a failure. */
const BEHIND_ROUNDS_MAX = 10

/** Finds the deposits of one mode as their blocks become deep enough. Of all processes, the one with the lease does it. */
export function watchDeposits(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const chain = ctx.chains[mode]
  let blocksMax = BLOCKS_MAX
  let behindRounds = 0
  const readOn = async (confirmedBlock: bigint, signal: AbortSignal, renewLease: RenewLease): Promise<void> => {
    for (let chunk = 0; chunk < CHUNKS_PER_ROUND_MAX && !signal.aborted; chunk += 1) {
      const progress = await followDeposits(ctx, { mode, confirmedBlock, blocksMax })
      blocksMax = progress.blocksMax
      if (progress.isThere) return
      if (!(await renewLease())) return
    }
  }
  const options = { name: `deposits:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    const deepEnough = (await chain.readRecentHead()) - BigInt(chain.confirmations) + 1n
    // Of a chain that is younger than its depth, the first block is as good a beginning as any: nothing is paid in it.
    const confirmedBlock = deepEnough < 0n ? 0n : deepEnough
    try {
      await readOn(confirmedBlock, signal, renewLease)
      behindRounds = 0
    } catch (error) {
      behindRounds += 1
      if (!(error instanceof ChainBehind) || behindRounds > BEHIND_ROUNDS_MAX) throw error
    }
  })
}
