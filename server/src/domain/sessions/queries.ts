import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { findMembership } from '../members/members-store.ts'
import { isAlive, sessionIdOf, type Session } from './session.ts'
import { findSessionRow, listSessionRows } from './sessions-store.ts'

/** Where a person is signed in, the latest seen first. */
export async function listSessions(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId }: { userId: string },
): Promise<Session[]> {
  const now = ctx.clock.now()
  return (await ctx.db.runRelaxed(listSessionRows(userId))).filter((session) => isAlive(session, now))
}

/** A session of the person that has not ended, by its id, or 404 `session_not_found`. */
export async function getSession(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId, id }: { userId: string; id: string },
): Promise<Session> {
  const session = (await listSessions(ctx, { userId })).find((other) => sessionIdOf(other) === id)
  if (session === undefined) throw problem('session_not_found')
  return session
}

/**
 * Whether a session still lives and its person still belongs to the workspace. It does not note that they were seen: a
 * page that stands open is nobody (D47).
 */
export async function isSessionActive(
  ctx: Pick<Context, 'db' | 'clock'>,
  { session, slug }: { session: Pick<Session, 'secretHash' | 'userId'>; slug: string },
): Promise<boolean> {
  const [found, membership] = await ctx.db.runRelaxedPair(
    findSessionRow(session.secretHash),
    findMembership(session.userId, slug),
  )
  return found !== null && isAlive(found, ctx.clock.now()) && membership !== null
}
