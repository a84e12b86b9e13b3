import { hash } from 'node:crypto'
import { cutText } from '../../lib/cut-text.ts'

/**
 * A session of the dashboard (D47). Its secret is the value of the session cookie. Only the hash of the secret is
 * stored.
 */
export interface Session {
  readonly secretHash: Buffer
  readonly userId: string
  readonly userName: string
  readonly createdAt: Date
  readonly lastSeenAt: Date
  /**
   * The latest time at which the session ends. It ends earlier if the user does nothing for 12 hours after
   * `lastSeenAt`.
   */
  readonly expiresAt: Date
  /** When the user last proved their presence, with a passkey or a recovery code. */
  readonly verifiedAt: Date
  /** The browser's description of itself, from the `User-Agent` header. */
  readonly device: string
}

const SESSION_ID_CHARS = 32

/**
 * Returns the session id that the dashboard shows. It is a hash of the stored hash. The stored hash itself must not
 * leave the service, because sessions are found by it.
 */
export function sessionIdOf({ secretHash }: Pick<Session, 'secretHash'>): string {
  return hash('sha256', secretHash, 'hex').slice(0, SESSION_ID_CHARS)
}

export const SESSION_IDLE_MS = 12 * 60 * 60 * 1_000
export const SESSION_MS = 7 * 24 * 60 * 60 * 1_000
/** `lastSeenAt` is updated at most this often, so that few requests cause a write. */
export const TOUCH_INTERVAL_MS = 60 * 1_000
/** If a user has more sessions, the oldest ones end. */
export const SESSIONS_MAX = 50
const DEVICE_CHARS_MAX = 200

export function isAlive(session: Pick<Session, 'lastSeenAt' | 'expiresAt'>, now: Date): boolean {
  return now < session.expiresAt && now.getTime() < session.lastSeenAt.getTime() + SESSION_IDLE_MS
}

/**
 * Returns whether `other`, which must be a session of the same user, is the same session with a new secret. A session
 * gets a new secret when its user proves their presence again.
 */
export function isRenewalOf(session: Session, other: Session): boolean {
  const isSame = other.createdAt.getTime() === session.createdAt.getTime() && other.device === session.device
  return isSame && other.verifiedAt > session.verifiedAt
}

/** Returns the browser's description of itself in a form that can be stored. */
export function parseDeviceName(text: string): string {
  return cutText(text.replaceAll('\u0000', ''), DEVICE_CHARS_MAX)
}
