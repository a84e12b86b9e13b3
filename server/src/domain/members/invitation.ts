import type { Role } from '../../values/role.ts'

/** An invitation to join a workspace with a role. Anybody who has its secret can accept it, up to `usesLeft` times. */
export interface Invitation {
  readonly id: string
  readonly workspaceId: string
  readonly role: Role
  readonly usesLeft: number
  /** The user who created the invitation. Null if the operator created it. */
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly revokedAt: Date | null
}

export const INVITATION_MS = 7 * 24 * 60 * 60 * 1_000
export const INVITATION_MAX_MS = 30 * 24 * 60 * 60 * 1_000
export const INVITATION_USES_MAX = 100
/** How many open invitations a workspace may have. */
export const INVITATIONS_MAX = 100

/** Returns whether the invitation can still be accepted. */
export function isOpen(invitation: Pick<Invitation, 'usesLeft' | 'expiresAt' | 'revokedAt'>, now: Date): boolean {
  return invitation.revokedAt === null && invitation.usesLeft > 0 && now < invitation.expiresAt
}
