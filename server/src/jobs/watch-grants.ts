import type { Context } from '../domain/context.ts'
import { compareGrants } from '../domain/grants/compare-grants.ts'
import type { Loop } from '../lib/loop.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

const INTERVAL_MS = 5_000
/** Longer than a call to the enclave may take. */
const LEASE_MS = 60_000
/** Few beside the calls of payments. 170,000 grants can be compared in a day; more of them take longer. */
const CALLS_PER_SECOND_MAX = 2
const GRANTS_PER_ROUND_MAX = (CALLS_PER_SECOND_MAX * INTERVAL_MS) / 1_000

/** Compares each active grant with the record of the enclave once a day, in the one process that has the lease. */
export function watchGrants(ctx: Context, { holder }: { holder: string }): Loop {
  const options = { name: 'compare-grants', holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    const mayContinue = async (): Promise<boolean> => !signal.aborted && (await renewLease())
    await compareGrants(ctx, { limit: GRANTS_PER_ROUND_MAX, mayContinue })
  })
}
