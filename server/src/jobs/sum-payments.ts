import type { Context } from '../domain/context.ts'
import { recordHourlySums } from '../domain/hourly-sums/record-hourly-sums.ts'
import type { Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

const INTERVAL_MS = 10 * 60_000
/** Longer than a page of workspaces takes, even after an upgrade, when all hours of the last 100 days are summed. */
const LEASE_MS = 30 * 60_000
const WORKSPACES_PER_PAGE = 200

/** Sums what was spent in each workspace in each hour that has ended. The overview reads these sums. */
export function sumPayments(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const options = { name: `sum-payments:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    let after: string | null = ''
    while (after !== null && !signal.aborted) {
      // Renewing the lease waits for the disk, and for a synchronous standby if there is one. So every payment that was
      // committed before is visible afterwards. A payment that became visible later would be missing in its hour's sum.
      // This is why the first page renews the lease too: the loop may not have done so for this round.
      if (!(await renewLease())) return
      const { next, failures } = await recordHourlySums(ctx, { mode, after, limit: WORKSPACES_PER_PAGE, signal })
      for (const { workspaceId, error } of failures) {
        ctx.logger.warn({ err: error, workspace: workspaceId, mode }, 'the payments of a workspace could not be summed')
      }
      after = next
    }
  })
}
