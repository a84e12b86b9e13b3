import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { isAlive, TOUCH_INTERVAL_MS, type Session } from './session.ts'
import { findSessionRow, touchSession } from './sessions-store.ts'

/**
 * The session that a cookie's value stands for, or null when there is none, or it has ended (D47). Where somebody
 * attends, notes that the person was seen, once a minute at the most.
 */
export async function findSession(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret, isAttended = true }: { secret: string; isAttended?: boolean },
): Promise<Session | null> {
  if (!isSecret(SECRET_PREFIXES.session, secret)) return null
  const now = ctx.clock.now()
  const session = await ctx.db.runRelaxed(findSessionRow(hashSecret(secret)))
  if (session === null || !isAlive(session, now)) return null
  if (!isAttended || now.getTime() - session.lastSeenAt.getTime() < TOUCH_INTERVAL_MS) return session
  // A power cut may undo it: the session is idle a minute longer then.
  await ctx.db.runRelaxed(touchSession(session.secretHash, now))
  return { ...session, lastSeenAt: now }
}
