import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { isRenewalOf, type Session } from './session.ts'
import { deleteSession, listSessionRows } from './sessions-store.ts'

/**
 * Signs out: the session's secret is worth nothing from now on, at any process, nor the one that it got meanwhile
 * (`verifySession`). False when it had ended already.
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
