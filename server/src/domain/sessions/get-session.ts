import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { listSessions } from './list-sessions.ts'
import { sessionIdOf, type Session } from './session.ts'

/** A session of the person that has not ended, by its id, or 404 `session_not_found`. */
export async function getSession(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId, id }: { userId: string; id: string },
): Promise<Session> {
  const session = (await listSessions(ctx, { userId })).find((other) => sessionIdOf(other) === id)
  if (session === undefined) throw problem('session_not_found')
  return session
}
