import type { Context } from '../context.ts'
import { REFUSAL_RETENTION_MS } from './refusal.ts'
import { deleteOldRefusals } from './refusals-store.ts'

/** How many rows one call deletes at most. With so few rows, the statement stays far below its time limit. */
const ROWS_PER_ROUND_MAX = 10_000

/**
 * Deletes refusals older than `REFUSAL_RETENTION_MS`, at most `ROWS_PER_ROUND_MAX` in one call. Returns how many were
 * deleted.
 */
export async function cleanUpRefusals(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const before = new Date(ctx.clock.now().getTime() - REFUSAL_RETENTION_MS)
  return await ctx.db.runDurable(deleteOldRefusals(before, ROWS_PER_ROUND_MAX))
}
