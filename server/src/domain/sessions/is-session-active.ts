import type { Context } from '../context.ts'
import { findMembership } from '../members/members-store.ts'
import { isAlive, type Session } from './session.ts'
import { findSessionRow } from './sessions-store.ts'

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
