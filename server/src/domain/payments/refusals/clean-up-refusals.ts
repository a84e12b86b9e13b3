import type { Context } from '../../context.ts'
import { REFUSAL_RETENTION_MS } from './refusal.ts'
import { deleteOldRefusals } from './refusals-store.ts'

/** A round stays far below the time that a statement may take. */
const ROWS_PER_ROUND_MAX = 10_000

/** Deletes refusals that are older than 30 days, so many at the most; answers how many. */
export async function cleanUpRefusals(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const longAgo = new Date(ctx.clock.now().getTime() - REFUSAL_RETENTION_MS)
  return await ctx.db.runDurable(deleteOldRefusals(longAgo, ROWS_PER_ROUND_MAX))
}
