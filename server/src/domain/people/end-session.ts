import { insertPersonalEntry } from '../audit/store.ts'
import type { Context } from '../context.ts'
import type { Session } from './session.ts'
import { deleteSession } from './sessions/store.ts'

/** Signs out: the session's secret is worth nothing from now on, at any process. One that has ended already stays so. */
export async function endSession(
  ctx: Pick<Context, 'db' | 'clock'>,
  { session: { secretHash, userId, device } }: { session: Session },
): Promise<void> {
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    if (!(await transaction.run(deleteSession(secretHash)))) return
    const entry = { createdAt, action: 'user.signed_out', details: { device } } as const
    await transaction.commit([insertPersonalEntry(userId, entry)])
  })
}
