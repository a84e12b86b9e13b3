import type { Mode } from '../../values/mode.ts'

/** An API key without its secret: only the hash of the secret is stored. */
export interface ApiKey {
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  /** The name that users gave it. Rotating a key keeps its name. */
  readonly name: string
  readonly secretHash: Buffer
  readonly createdAt: Date
  /** The user who created it. Null: the operator. */
  readonly createdBy: string | null
  /** Set when the key is rotated: the old key still works until then. */
  readonly graceUntil: Date | null
  readonly revokedAt: Date | null
}

/** What members of the workspace see of a key. */
export interface KeySummary extends Omit<ApiKey, 'secretHash'> {
  readonly createdByName: string | null
  /** When a request with it was last counted against its rate limit. Null if never. */
  readonly lastUsedAt: Date | null
}

/** A `rotated` key still works. Once its grace period is over, it is `expired`. */
export const KEY_STATES = ['active', 'rotated', 'expired', 'revoked'] as const
export type KeyState = (typeof KEY_STATES)[number]

/** How long a rotated key still works (specification, part 5). */
export const ROTATION_GRACE_MS = 24 * 60 * 60 * 1_000
/** How many working keys, including rotated ones in their grace period, users may have in an (account, mode). */
export const KEYS_MAX = 50
/** A list shows at most this many keys. */
export const KEYS_LISTED_MAX = 100
/** The name of a key that the operator creates without naming it. */
export const DEFAULT_KEY_NAME = 'API key'

export function keyStateOf(key: Pick<ApiKey, 'graceUntil' | 'revokedAt'>, now: Date): KeyState {
  if (key.revokedAt !== null) return 'revoked'
  if (key.graceUntil === null) return 'active'
  return now < key.graceUntil ? 'rotated' : 'expired'
}

/** Returns whether a key works now: it is not revoked, and if it was rotated, its grace period is not over. */
export function isUsable(key: Pick<ApiKey, 'graceUntil' | 'revokedAt'>, now: Date): boolean {
  const state = keyStateOf(key, now)
  return state === 'active' || state === 'rotated'
}
