import type { Mode } from '../../values/mode.ts'
import { formatScopes, type Scope } from '../../values/scope.ts'

/** An API key without its secret: only the hash of the secret is stored. */
export interface ApiKey {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  /** The name that users gave it. Rotating a key keeps its name. */
  readonly name: string
  /** The only agent as which the key may pay (D56). Null if it may pay as every agent. */
  readonly agentId: string | null
  /** The scopes of the key, at least one (D56). Null means all scopes, including those that are added later. */
  readonly scopes: readonly Scope[] | null
  /** The last four characters of the secret. */
  readonly last4: string
  readonly secretHash: Buffer
  readonly createdAt: Date
  /** The user who created the key. Null if the operator created it. */
  readonly createdBy: string | null
  /** The end of the grace period of a rotated key, until which it still works. Null if the key was not rotated. */
  readonly graceUntil: Date | null
  readonly revokedAt: Date | null
  /** When the key was held after a restore of the service (D96a). Null if it never was. */
  readonly heldAt: Date | null
  /** When an owner confirmed the held key, so that it works again. Null if no owner has, or the key was never held. */
  readonly confirmedAt: Date | null
}

/** The data of a key that members of the workspace can see. */
export interface KeySummary extends Omit<ApiKey, 'secretHash'> {
  readonly createdByName: string | null
  /** Whether the user who created the key is no longer a member of the workspace. */
  readonly isByFormerMember: boolean
  /** When a request with the key was last counted against its rate limit. Null if never. */
  readonly lastUsedAt: Date | null
}

/** What people see of a key when the member who made it leaves the workspace (D88). */
export type MadeKey = Pick<ApiKey, 'id' | 'mode' | 'name' | 'agentId' | 'scopes' | 'last4'>

/**
 * A `rotated` key was replaced by a new one, but still works. When its grace period is over, it is `expired`. A `held`
 * key works again when an owner of the workspace has confirmed it (D96a).
 */
export const KEY_STATES = ['active', 'rotated', 'held', 'expired', 'revoked'] as const
export type KeyState = (typeof KEY_STATES)[number]

/** How long a rotated key still works (specification, part 5). */
export const ROTATION_GRACE_MS = 24 * 60 * 60 * 1_000
/**
 * How many working keys users may create in one workspace and mode. A rotated key counts until its grace period is
 * over.
 */
export const KEYS_MAX = 50
/** A list shows at most this many keys. */
export const KEYS_LISTED_MAX = 100
/** An owner decides on at most this many held keys at once. */
export const HELD_KEYS_LISTED_MAX = 500
/** The name of a key that the operator creates without naming it. */
export const DEFAULT_KEY_NAME = 'API key'

type Times = Pick<ApiKey, 'graceUntil' | 'revokedAt' | 'heldAt' | 'confirmedAt'>

export function keyStateOf(key: Times, now: Date): KeyState {
  if (key.revokedAt !== null) return 'revoked'
  if (key.graceUntil !== null && now >= key.graceUntil) return 'expired'
  if (key.heldAt !== null && key.confirmedAt === null) return 'held'
  return key.graceUntil === null ? 'active' : 'rotated'
}

/**
 * Describes a key for the audit log. Restrictions are named only if the key has them. Contains nothing of the secret.
 */
export function describeKey({ mode, name, agentId, scopes }: Pick<ApiKey, 'mode' | 'name' | 'agentId' | 'scopes'>) {
  return {
    mode,
    name,
    ...(agentId === null ? {} : { agent_id: agentId }),
    ...(scopes === null ? {} : { scopes: formatScopes(scopes) }),
  }
}
