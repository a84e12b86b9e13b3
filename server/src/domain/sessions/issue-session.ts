import type { Query } from '../../db/query.ts'
import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { SESSION_MS, SESSIONS_MAX, toDevice, type Session } from './session.ts'
import { deleteOldestSessions, insertSession } from './sessions-store.ts'

export interface IssuedSession {
  readonly session: Session
  /** The cookie's value; it can't be had again. */
  readonly secret: string
}

/** Makes a session of a person who has just proved to be there, and the queries that keep it. */
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
    device: toDevice(device),
  }
  return { issued: { session, secret }, queries: [insertSession(session), deleteOldestSessions(userId, SESSIONS_MAX)] }
}
