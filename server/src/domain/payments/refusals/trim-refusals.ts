import type { Context } from '../../context.ts'
import { REFUSALS_KEPT_MAX } from './refusal.ts'
import { deleteSurplusRefusals } from './refusals-store.ts'

/** A round stays far below the time that a statement may take. */
const ROWS_PER_ROUND_MAX = 10_000
/** Far above the time between two rounds of the clean-up. Only where something was refused lately is there more than before. */
const LATELY_MS = 60 * 60 * 1_000
const LATELY_ROWS_MAX = 20_000

/** Deletes the oldest refusals of each (account, mode) that has more than 10,000, so many at the most; answers how many. */
export async function trimRefusals(
  ctx: Pick<Context, 'db' | 'clock'>,
  { keptMax = REFUSALS_KEPT_MAX }: { readonly keptMax?: number } = {},
): Promise<number> {
  const since = new Date(ctx.clock.now().getTime() - LATELY_MS)
  const bounds = { since, lookedAtMax: LATELY_ROWS_MAX, keptMax, limit: ROWS_PER_ROUND_MAX }
  return await ctx.db.runDurable(deleteSurplusRefusals(bounds))
}
