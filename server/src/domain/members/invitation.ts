import type { Role } from './role.ts'

/** Whoever has its secret may join a workspace with its role, as often as it says. */
export interface Invitation {
  readonly id: string
  readonly accountId: string
  readonly role: Role
  readonly usesLeft: number
  /** Null: the operator. */
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly revokedAt: Date | null
}

export const INVITATION_MS = 7 * 24 * 60 * 60 * 1_000
export const INVITATION_MAX_MS = 30 * 24 * 60 * 60 * 1_000
export const INVITATION_USES_MAX = 100
/** Open ones of one workspace. */
export const INVITATIONS_MAX = 100

/** Whether somebody can still join by it. */
export function isOpen(invitation: Pick<Invitation, 'usesLeft' | 'expiresAt' | 'revokedAt'>, now: Date): boolean {
  return invitation.revokedAt === null && invitation.usesLeft > 0 && now < invitation.expiresAt
}
