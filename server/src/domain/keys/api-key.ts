import type { Mode } from '../../values/mode.ts'

/** An API key, without its secret: only the secret's hash is kept. */
export interface ApiKey {
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  /** What people call it; the key that a rotation gives has the same one. */
  readonly name: string
  readonly secretHash: Buffer
  readonly createdAt: Date
  /** The person who made it; null: the operator. */
  readonly createdBy: string | null
  /** Set by a rotation: until then the old key still authenticates. */
  readonly graceUntil: Date | null
  readonly revokedAt: Date | null
}

/** What a workspace is shown of a key. */
export interface KeySummary extends Omit<ApiKey, 'secretHash'> {
  readonly createdByName: string | null
  /** When a request with it was last counted against its rate; null: never. */
  readonly lastUsedAt: Date | null
}

/** `rotated` still authenticates; its grace over, it is `expired`. */
export const KEY_STATES = ['active', 'rotated', 'expired', 'revoked'] as const
export type KeyState = (typeof KEY_STATES)[number]

/** How long a rotated key keeps authenticating (specification, part 5). */
export const ROTATION_GRACE_MS = 24 * 60 * 60 * 1_000
/** Keys that authenticate, those in their grace among them, that people may make in an (account, mode). */
export const KEYS_MAX = 50
/** A list of keys ends here. */
export const KEYS_LISTED_MAX = 100
/** Of what the operator makes without a name. */
export const DEFAULT_KEY_NAME = 'API key'

export function keyStateOf(key: Pick<ApiKey, 'graceUntil' | 'revokedAt'>, now: Date): KeyState {
  if (key.revokedAt !== null) return 'revoked'
  if (key.graceUntil === null) return 'active'
  return now < key.graceUntil ? 'rotated' : 'expired'
}

/** Whether a key authenticates now: not revoked, and within its grace when it was rotated. */
export function isUsable(key: Pick<ApiKey, 'graceUntil' | 'revokedAt'>, now: Date): boolean {
  const state = keyStateOf(key, now)
  return state === 'active' || state === 'rotated'
}
