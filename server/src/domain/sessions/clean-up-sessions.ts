import type { Context } from '../context.ts'
import { deleteEndedCeremonies } from '../passkeys/passkeys-store.ts'
import { deleteEndedSessions } from './sessions-store.ts'

/** A round stays far below the time that a statement may take. */
const ROWS_PER_ROUND_MAX = 10_000

/** Deletes ceremonies and sessions that have ended, so many of each at the most; answers how many. */
export async function cleanUpSessions(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const now = ctx.clock.now()
  const ceremonies = await ctx.db.runDurable(deleteEndedCeremonies(now, ROWS_PER_ROUND_MAX))
  const sessions = await ctx.db.runDurable(deleteEndedSessions(now, ROWS_PER_ROUND_MAX))
  return ceremonies + sessions
}
