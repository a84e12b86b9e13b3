import type { Context } from '../context.ts'
import { REFUSALS_KEPT_MAX } from './refusal.ts'
import { deleteSurplusRefusals } from './refusals-store.ts'

/** One call deletes at most this many rows. With so few rows, the statement stays far below its time limit. */
const ROWS_PER_ROUND_MAX = 10_000
/**
 * Only workspaces with a refusal in the last hour are checked. The clean-up runs far more often than once an hour, so
 * all the remaining workspaces were already checked after their newest refusals.
 */
const RECENT_MS = 60 * 60 * 1_000
/** At most this many of the recent refusals are read to find the workspaces to check. */
const RECENT_ROWS_MAX = 20_000

/**
 * Deletes the oldest refusals of each workspace and mode that has more than `keptMax` refusals, at most
 * `ROWS_PER_ROUND_MAX` in one call. Returns how many were deleted.
 */
export async function trimRefusals(
  ctx: Pick<Context, 'db' | 'clock'>,
  { keptMax = REFUSALS_KEPT_MAX }: { readonly keptMax?: number } = {},
): Promise<number> {
  const since = new Date(ctx.clock.now().getTime() - RECENT_MS)
  const bounds = { since, lookedAtMax: RECENT_ROWS_MAX, keptMax, limit: ROWS_PER_ROUND_MAX }
  return await ctx.db.write(deleteSurplusRefusals(bounds))
}
