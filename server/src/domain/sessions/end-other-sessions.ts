import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { SESSION_IDLE_MS, type Session } from './session.ts'
import { deleteOtherSessions } from './sessions-store.ts'

/** Ends all other sessions of a user, and returns how many were ended. */
export async function endOtherSessions(
  ctx: Pick<Context, 'db' | 'clock'>,
  { session: { secretHash, userId } }: { session: Session },
): Promise<number> {
  const now = ctx.clock.now()
  const idleSince = new Date(now.getTime() - SESSION_IDLE_MS)
  return await ctx.db.transaction(async (transaction) => {
    const sessions = await transaction.run(deleteOtherSessions(userId, secretHash, now, idleSince))
    if (sessions === 0) return 0
    const entry = { createdAt: now, action: 'user.signed_out', details: { other_sessions: sessions } } as const
    await transaction.commit([insertPersonalEntry(userId, entry)])
    return sessions
  })
}
