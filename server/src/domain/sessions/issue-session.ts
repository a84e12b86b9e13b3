import type { Query } from '../../db/query.ts'
import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { SESSION_MS, SESSIONS_MAX, parseDeviceName, type Session } from './session.ts'
import { deleteOldestSessions, insertSession } from './sessions-store.ts'

export interface IssuedSession {
  readonly session: Session
  /** The cookie's value. It cannot be read again. */
  readonly secret: string
}

/**
 * Returns a session for a user who has just proved their presence. Also returns the queries that store the session and
 * end the user's oldest sessions if the user has too many.
 */
export function issueSession(
  { userId, userName, device }: Pick<Session, 'userId' | 'userName' | 'device'>,
  now: Date,
): { issued: IssuedSession; queries: Query<unknown>[] } {
  const secret = createSecret(SECRET_PREFIXES.session)
  const session = {
    secretHash: hashSecret(secret),
    userId,
    userName,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: new Date(now.getTime() + SESSION_MS),
    verifiedAt: now,
    device: parseDeviceName(device),
  }
  return { issued: { session, secret }, queries: [insertSession(session), deleteOldestSessions(userId, SESSIONS_MAX)] }
}
