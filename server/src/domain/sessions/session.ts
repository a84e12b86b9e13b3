import { hash } from 'node:crypto'

/** A session of the dashboard (D47). Of its secret, the cookie's value, only the hash is kept. */
export interface Session {
  readonly secretHash: Buffer
  readonly userId: string
  readonly userName: string
  readonly createdAt: Date
  readonly lastSeenAt: Date
  /** The end in all; the idle end follows from `lastSeenAt`. */
  readonly expiresAt: Date
  /** When the person last proved to be there, by passkey or recovery code. */
  readonly verifiedAt: Date
  /** What the browser calls itself. */
  readonly device: string
}

const SESSION_ID_CHARS = 32

/** What a session is called outside. Not the secret's hash: that is what lets in whoever can write to the database. */
export function sessionIdOf({ secretHash }: Pick<Session, 'secretHash'>): string {
  return hash('sha256', secretHash, 'hex').slice(0, SESSION_ID_CHARS)
}

export const SESSION_IDLE_MS = 12 * 60 * 60 * 1_000
export const SESSION_MS = 7 * 24 * 60 * 60 * 1_000
/** A session's `lastSeenAt` moves at most this often, so that few requests write. */
export const TOUCH_INTERVAL_MS = 60 * 1_000
/** A person's oldest sessions end when there are more. */
export const SESSIONS_MAX = 50
const DEVICE_CHARS_MAX = 200

export function isAlive(session: Pick<Session, 'lastSeenAt' | 'expiresAt'>, now: Date): boolean {
  return now < session.expiresAt && now.getTime() < session.lastSeenAt.getTime() + SESSION_IDLE_MS
}

/** Whether a session of the same person is this one, with another secret since its person proved to be there again. */
export function isRenewalOf(session: Session, other: Session): boolean {
  const isSame = other.createdAt.getTime() === session.createdAt.getTime() && other.device === session.device
  return isSame && other.verifiedAt > session.verifiedAt
}

/** Makes what a browser calls itself fit to be kept. */
export function toDevice(text: string): string {
  return text.slice(0, DEVICE_CHARS_MAX).replaceAll('\u0000', '').toWellFormed()
}
