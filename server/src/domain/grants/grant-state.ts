import type { Grant } from './grant.ts'

export const GRANT_STATES = ['pending', 'active', 'suspended', 'expired', 'revoked', 'replaced'] as const

export type GrantState = (typeof GRANT_STATES)[number]

/** What is told of a grant beside its status: one that is not revoked may be suspended, or over. */
export function grantState(
  { status, replacedBy, suspendedAt, expiresAt }: Pick<Grant, 'status' | 'replacedBy' | 'suspendedAt' | 'expiresAt'>,
  now: Date,
): GrantState {
  if (status === 'revoked') return replacedBy === null ? 'revoked' : 'replaced'
  if (suspendedAt !== null) return 'suspended'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return status
}
