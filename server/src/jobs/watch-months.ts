import type { Context } from '../domain/context.ts'
import { recordMonths } from '../domain/months/record-months.ts'
import type { Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

/**
 * Far shorter than the time for which nodes keep the state of a block: 128 blocks, which are four minutes on Base, and
 * half a minute on a chain with four blocks a second.
 */
const INTERVAL_MS = 10_000
/** Longer than a batch of balances takes. */
const LEASE_MS = 60_000

/** Records with which block and balances each month of a mode begins, in the one process that has the lease. */
export function watchMonths(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const options = { name: `months:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (_signal, renewLease) => recordMonths(ctx, { mode, renewLease }))
}
