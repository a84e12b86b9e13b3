import type { Context } from '../../context.ts'
import { REFUSALS_KEPT_MAX } from './refusal.ts'
import { deleteSurplusRefusals } from './refusals-store.ts'

/** Few enough that the statement stays far below its time limit. */
const ROWS_PER_ROUND_MAX = 10_000
/**
 * Far longer than the time between two rounds of the clean-up. Only accounts with a refusal in this time can have more
 * refusals than at the last round.
 */
const RECENT_MS = 60 * 60 * 1_000
const RECENT_ROWS_MAX = 20_000

/**
 * Deletes the oldest refusals of each account and mode that has more than `keptMax`, at most `ROWS_PER_ROUND_MAX` at a
 * time. Returns how many it deleted.
 */
export async function trimRefusals(
  ctx: Pick<Context, 'db' | 'clock'>,
  { keptMax = REFUSALS_KEPT_MAX }: { readonly keptMax?: number } = {},
): Promise<number> {
  const since = new Date(ctx.clock.now().getTime() - RECENT_MS)
  const bounds = { since, lookedAtMax: RECENT_ROWS_MAX, keptMax, limit: ROWS_PER_ROUND_MAX }
  return await ctx.db.runDurable(deleteSurplusRefusals(bounds))
}
