import type { Operator } from '../audit/audit-entry.ts'
import { insertAuditEntries } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { deleteEndedCeremonies } from '../passkeys/passkeys-store.ts'
import { deleteAnySessions } from './sessions-store.ts'

/** One transaction ends at most this many sessions or ceremonies, so that it is quick and holds few locks. */
const ROWS_PER_STEP = 1_000
/** A time after which no ceremony expires. */
const END_OF_TIME = new Date('9999-01-01T00:00:00Z')

/**
 * Ends the sessions of all users, and the passkey requests that wait for a response: sign-ups, sign-ins, verifications
 * and new passkeys. Everybody must sign in again. For use after the database was restored from a backup, which brings
 * ended sessions back (D96a).
 *
 * The log of each user who has ever belonged to a workspace gets an entry. Can be called again after a failure.
 */
export async function endAllSessions(
  ctx: Pick<Context, 'db' | 'clock'>,
  { actor }: { actor: Operator },
): Promise<{ sessions: number; ceremonies: number }> {
  return { sessions: await endSessions(ctx, actor), ceremonies: await endCeremonies(ctx) }
}

async function endSessions(ctx: Pick<Context, 'db' | 'clock'>, actor: Operator): Promise<number> {
  let total = 0
  for (;;) {
    const createdAt = ctx.clock.now()
    const ended = await ctx.db.transaction(async (transaction) => {
      const users = await transaction.run(deleteAnySessions(ROWS_PER_STEP))
      const entries = users
        .filter(({ hasJoined }) => hasJoined)
        .map(({ userId, sessions }) => {
          const details = { sessions, because: 'restore' }
          return { logId: userId, createdAt, actor, action: 'user.sessions_ended', subject: userId, details } as const
        })
      await transaction.commit(entries.length === 0 ? [] : [insertAuditEntries(entries)])
      return users.reduce((sum, { sessions }) => sum + sessions, 0)
    })
    total += ended
    if (ended < ROWS_PER_STEP) return total
  }
}

async function endCeremonies(ctx: Pick<Context, 'db'>): Promise<number> {
  let total = 0
  for (;;) {
    const ended = await ctx.db.write(deleteEndedCeremonies(END_OF_TIME, ROWS_PER_STEP))
    total += ended
    if (ended < ROWS_PER_STEP) return total
  }
}
