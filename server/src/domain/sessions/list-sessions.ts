import type { Context } from '../context.ts'
import { isAlive, type Session } from './session.ts'
import { listSessionRows } from './sessions-store.ts'

/** Where a person is signed in, the latest seen first. */
export async function listSessions(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId }: { userId: string },
): Promise<Session[]> {
  const now = ctx.clock.now()
  return (await ctx.db.runRelaxed(listSessionRows(userId))).filter((session) => isAlive(session, now))
}
