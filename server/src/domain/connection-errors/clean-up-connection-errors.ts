import type { Context } from '../context.ts'
import { ERROR_RETENTION_MS } from './connection-error.ts'
import { deleteOldErrors } from './connection-errors-store.ts'

/** A clean-up run deletes at most this many rows, so that it holds no lock for long. */
const ROWS_PER_ROUND_MAX = 10_000

/** Deletes the errors that last happened more than 30 days ago. Returns how many were deleted. */
export async function cleanUpConnectionErrors(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const before = new Date(ctx.clock.now().getTime() - ERROR_RETENTION_MS)
  return await ctx.db.runDurable(deleteOldErrors(before, ROWS_PER_ROUND_MAX))
}
