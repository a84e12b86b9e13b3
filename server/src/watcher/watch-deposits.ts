import { giveBackLease } from '../db/leases.ts'
import type { Context } from '../domain/context.ts'
import { BLOCKS_MAX, followDeposits } from '../domain/deposits/follow-deposits.ts'
import { takeLeaseNow } from '../domain/take-lease-now.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'

const INTERVAL_MS = 1_000
/** Two processes that read at once do no harm: the cursor moves once. */
const LEASE_MS = 15_000
/** A round reads so many chunks at the most, the refused ones with them; after a gap of hours the next ones go on. */
const CHUNKS_PER_ROUND_MAX = 10

/** Finds the deposits of one mode as their blocks become deep enough. Of all processes, the one with the lease does it. */
export function watchDeposits(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const name = `deposits:${mode}`
  const chain = ctx.chains[mode]
  let blocksMax = BLOCKS_MAX
  const loop = startLoop({ name, intervalMs: INTERVAL_MS, logger: ctx.logger }, async (signal) => {
    if (!(await takeLeaseNow(ctx, { name, holder, leaseMs: LEASE_MS }))) return
    const deepEnough = (await chain.readHead()) - BigInt(chain.confirmations) + 1n
    // Of a chain that is younger than its depth, the first block is as good a beginning as any: nothing is paid in it.
    const confirmedBlock = deepEnough < 0n ? 0n : deepEnough
    for (let chunk = 0; chunk < CHUNKS_PER_ROUND_MAX && !signal.aborted; chunk += 1) {
      const progress = await followDeposits(ctx, { mode, confirmedBlock, blocksMax })
      blocksMax = progress.blocksMax
      if (progress.isThere) return
      if (!(await takeLeaseNow(ctx, { name, holder, leaseMs: LEASE_MS }))) return
    }
  })
  return {
    async stop() {
      await loop.stop()
      await ctx.db.write(giveBackLease(name, holder))
    },
  }
}
