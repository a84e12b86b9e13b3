import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { isRenewalOf, type Session } from './session.ts'
import { deleteSession, listSessionRows } from './sessions-store.ts'

/**
 * Ends a session: its secret stops working at once on all server processes. If the session got a new secret meanwhile
 * because its user verified their presence (`verifySession`), the new secret stops working too. Returns false if the
 * session had already ended.
 */
export async function endSession(
  ctx: Pick<Context, 'db' | 'clock'>,
  { session }: { session: Session },
): Promise<boolean> {
  const { secretHash, userId, device } = session
  const createdAt = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const [isEnded, others] = await transaction.batch([deleteSession(secretHash), listSessionRows(userId)])
    const renewed = isEnded ? undefined : others.find((other) => isRenewalOf(session, other))
    if (!isEnded && (renewed === undefined || !(await transaction.run(deleteSession(renewed.secretHash))))) return false
    const entry = { createdAt, action: 'user.signed_out', details: { device } } as const
    await transaction.commit([insertPersonalEntry(userId, entry)])
    return true
  })
}
