import { deleteEndedOwnerRequests } from './owner-requests-store.ts'
import type { Context } from '../context.ts'

/** How long a request is kept after it has expired. The audit log keeps its outcome. */
export const OWNER_REQUEST_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000
/** At most this many rows are deleted per round, so that a round takes far less time than a statement may take. */
const ROWS_PER_ROUND_MAX = 10_000

/** Deletes requests that expired more than 30 days ago, at most 10,000 in one call, and returns how many. */
export async function cleanUpOwnerRequests(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const expiredBefore = new Date(ctx.clock.now().getTime() - OWNER_REQUEST_RETENTION_MS)
  return await ctx.db.runDurable(deleteEndedOwnerRequests(expiredBefore, ROWS_PER_ROUND_MAX))
}
