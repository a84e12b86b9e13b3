import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { isAlive, TOUCH_INTERVAL_MS, type Session } from './session.ts'
import { findSessionRow, touchSession } from './sessions-store.ts'

/**
 * Returns the session whose secret is in the cookie. Returns null if there is none or it has ended (D47). `isAttended`
 * means that a user caused the request. If it is true, the user's last activity is recorded, at most once per minute.
 */
export async function findSession(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret, isAttended = true }: { secret: string; isAttended?: boolean },
): Promise<Session | null> {
  if (!isSecret(SECRET_PREFIXES.session, secret)) return null
  const now = ctx.clock.now()
  const session = await ctx.db.read(findSessionRow(hashSecret(secret)))
  if (session === null || !isAlive(session, now)) return null
  if (!isAttended || now.getTime() - session.lastSeenAt.getTime() < TOUCH_INTERVAL_MS) return session
  // If a power failure loses this, the session only counts as idle for a minute longer.
  await ctx.db.write(touchSession(session.secretHash, now), { mayBeLost: true })
  return { ...session, lastSeenAt: now }
}
