import type { Context } from '../domain/context.ts'
import { recordBalances } from '../domain/wallets/record-balances.ts'
import type { Loop } from '../lib/loop.ts'
import type { Address } from '../values/address.ts'
import type { Mode } from '../values/mode.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

/**
 * How long the job waits between two pages of wallets. Its calls to the chain are bounded by this time, however many
 * wallets there are. Up to 500 wallets are read every 15 seconds, and 100,000 wallets within an hour.
 */
const INTERVAL_MS = 15_000
/** Longer than a page takes if each of its calls to the chain takes as long as it may. */
const LEASE_MS = 2 * 60_000

/** Stores the balances of one mode's wallets, page by page, so that the dashboard need not wait for the chain. */
export function watchBalances(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  let after: Address | null = null
  const options = { name: `watch-balances:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal) => {
    after = await recordBalances(ctx, { mode, after, signal })
  })
}
