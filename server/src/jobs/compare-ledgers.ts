import type { Context } from '../domain/context.ts'
import { compareLedger } from '../domain/unexplained-transfers/compare-ledger.ts'
import type { Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

/**
 * A shorter interval would cause more requests to nodes. Money does not depend on it: a process compares the ledger
 * before its first payment, and the ids that we send to the provider protect a payment that is repeated within a day.
 */
const INTERVAL_MS = 60_000
const LEASE_MS = 60_000
/** How many steps one round makes. If blocks are left, the next round goes on. */
const STEPS_PER_ROUND_MAX = 50

/** Compares the transfers out of the wallets of one mode with the payments, in the one process that has the lease. */
export function compareLedgers(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const options = { name: `ledger:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    for (let step = 0; step < STEPS_PER_ROUND_MAX && !signal.aborted; step += 1) {
      if (step > 0 && !(await renewLease())) return
      if ((await compareLedger(ctx, { mode })).isCaughtUp) return
    }
  })
}
