import type { Context } from '../domain/context.ts'
import { appendLeaves } from '../domain/transparency-log/append-leaves.ts'
import { keepCheckpoint } from '../domain/transparency-log/keep-checkpoint.ts'
import type { Loop } from '../lib/loop.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

const INTERVAL_MS = 1_000
/** Longer than two batches take, and the time limit of a statement. */
const LEASE_MS = 60_000
/** At most this many leaves, of less than a kilobyte each, are in memory at once. */
const LEAVES_PER_BATCH_MAX = 1_000
/** A round has at most this many batches, so that it ends. */
const BATCHES_PER_ROUND_MAX = 20

/**
 * Adds a leaf to the transparency log for each change (D80), and keeps the newest checkpoint in a file. If the file cannot
 * be written, the round fails, and the next one still adds leaves. A process without the lease keeps the checkpoint too. So
 * if it gets the lease, it knows what the log contained, and adds nothing to a database that was restored meanwhile.
 */
export function growLog(ctx: Context, { holder }: { holder: string }): Loop {
  const otherwise = async (): Promise<void> => await keepCheckpoint(ctx)
  const options = { name: 'grow-log', holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS, otherwise }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    for (let batch = 0; batch < BATCHES_PER_ROUND_MAX && !signal.aborted; batch += 1) {
      if (batch > 0 && !(await renewLease())) return
      if ((await appendLeaves(ctx, { limit: LEAVES_PER_BATCH_MAX })) < LEAVES_PER_BATCH_MAX) break
    }
    await keepCheckpoint(ctx)
  })
}
