import type { Mode } from '../../values/mode.ts'

/** An API key, without its secret: only the secret's hash is kept. */
export interface ApiKey {
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly secretHash: Buffer
  readonly createdAt: Date
  /** Set by a rotation: until then the old key still authenticates. */
  readonly graceUntil: Date | null
  readonly revokedAt: Date | null
}

/** How long a rotated key keeps authenticating (specification, part 5). */
export const ROTATION_GRACE_MS = 24 * 60 * 60 * 1_000

/** Whether a key authenticates now: not revoked, and within its grace when it was rotated. */
export function isUsable(key: Pick<ApiKey, 'graceUntil' | 'revokedAt'>, now: Date): boolean {
  return key.revokedAt === null && (key.graceUntil === null || now < key.graceUntil)
}
