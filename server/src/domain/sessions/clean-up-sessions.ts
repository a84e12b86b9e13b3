import type { Context } from '../context.ts'
import { deleteEndedCeremonies } from '../passkeys/passkeys-store.ts'
import { deleteEndedSessions } from './sessions-store.ts'

/** Small enough that one round stays far below the time limit of a database statement. */
const ROWS_PER_ROUND_MAX = 10_000

/** Deletes expired ceremonies and sessions, at most 10,000 of each, and returns how many it deleted in total. */
export async function cleanUpSessions(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const now = ctx.clock.now()
  const ceremonies = await ctx.db.runDurable(deleteEndedCeremonies(now, ROWS_PER_ROUND_MAX))
  const sessions = await ctx.db.runDurable(deleteEndedSessions(now, ROWS_PER_ROUND_MAX))
  return ceremonies + sessions
}
