import { ChainBehind } from '../chain/errors.ts'
import type { Context } from '../domain/context.ts'
import { followDeposits } from '../domain/deposits/follow-deposits.ts'
import type { Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'
import { startLeasedLoop, type RenewLease } from './start-leased-loop.ts'

const INTERVAL_MS = 1_000
/**
 * The lease may expire while its process still reads. Then two processes read at the same time, which does no harm,
 * because only one of them can move the cursor.
 */
const LEASE_MS = 15_000
/** One round reads at most this many chunks of blocks. If blocks are left, the next round continues. */
const CHUNKS_PER_ROUND_MAX = 10
/**
 * A node may announce the number of a new block before any node can return the block itself. A round that fails for
 * this reason is ignored. After this many such rounds in a row, the next one counts as a failure.
 */
const BEHIND_ROUNDS_MAX = 10

/** Records the deposits of one mode when their blocks are deep enough, in the one process that has the lease. */
export function watchDeposits(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const chain = ctx.chains[mode]
  let behindRounds = 0
  const readChunks = async (confirmedBlock: bigint, signal: AbortSignal, renewLease: RenewLease): Promise<void> => {
    for (let chunk = 0; chunk < CHUNKS_PER_ROUND_MAX && !signal.aborted; chunk += 1) {
      if (await followDeposits(ctx, { mode, confirmedBlock })) return
      if (!(await renewLease())) return
    }
  }
  const options = { name: `deposits:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    const deepEnough = (await chain.readRecentHead()) - BigInt(chain.confirmations) + 1n
    // If the chain is shorter than the required depth, the confirmed block is block 0, which contains no payments.
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
