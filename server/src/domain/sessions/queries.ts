import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { findMembership } from '../members/members-store.ts'
import { isAlive, sessionIdOf, type Session } from './session.ts'
import { findSessionRow, listSessionRows } from './sessions-store.ts'

/** Lists a user's sessions, the most recently used first. */
export async function listSessions(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId }: { userId: string },
): Promise<Session[]> {
  const now = ctx.clock.now()
  return (await ctx.db.read(listSessionRows(userId))).filter((session) => isAlive(session, now))
}

/** Returns a user's session by its id, or throws 404 `session_not_found` if there is none or it has ended. */
export async function getSession(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId, id }: { userId: string; id: string },
): Promise<Session> {
  const session = (await listSessions(ctx, { userId })).find((other) => sessionIdOf(other) === id)
  if (session === undefined) throw problem('session_not_found')
  return session
}

/**
 * Returns whether a session is still alive and its user still belongs to the workspace. This does not count as activity
 * of the user, because an open page does not show that a user is acting (D47).
 */
export async function isSessionActive(
  ctx: Pick<Context, 'db' | 'clock'>,
  { session, slug }: { session: Pick<Session, 'secretHash' | 'userId'>; slug: string },
): Promise<boolean> {
  const [found, membership] = await ctx.db.read([
    findSessionRow(session.secretHash),
    findMembership(session.userId, slug),
  ])
  return found !== null && isAlive(found, ctx.clock.now()) && membership !== null
}
