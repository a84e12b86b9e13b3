import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { isAlive, TOUCH_INTERVAL_MS, type Session } from './session.ts'
import { findSessionRow, touchSession } from './sessions-store.ts'

/**
 * Returns the session for a cookie's value, or null if there is none or it has ended (D47). If `isAttended`, which
 * means that a user is acting, records that the user was seen, at most once per minute.
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
  // Not durable: if a power failure loses it, the session merely counts as idle for a minute longer.
  await ctx.db.runRelaxed(touchSession(session.secretHash, now))
  return { ...session, lastSeenAt: now }
}
