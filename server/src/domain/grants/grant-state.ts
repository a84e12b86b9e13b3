import type { Grant } from './grant.ts'

export const GRANT_STATES = ['pending', 'active', 'suspended', 'expired', 'revoked', 'replaced'] as const

export type GrantState = (typeof GRANT_STATES)[number]

/**
 * Returns the status that people see. It says more than the stored `status`: a grant that is not revoked may be
 * suspended or expired, and a revoked grant may have been replaced.
 */
export function grantState(
  { status, replacedBy, suspendedAt, expiresAt }: Pick<Grant, 'status' | 'replacedBy' | 'suspendedAt' | 'expiresAt'>,
  now: Date,
): GrantState {
  if (status === 'revoked') return replacedBy === null ? 'revoked' : 'replaced'
  if (suspendedAt !== null) return 'suspended'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return status
}
