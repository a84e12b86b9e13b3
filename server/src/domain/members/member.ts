import type { ProblemCode } from '../../values/problem.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { may, type Right, type Role } from '../../values/role.ts'

/** A user's membership in a workspace. */
export interface Membership {
  readonly workspace: Workspace
  readonly userId: string
  readonly role: Role
  readonly createdAt: Date
}

/** A membership in the list of a user's workspaces. */
export interface ListedMembership extends Membership {
  /** Whether API keys of the workspace wait for an owner to confirm them after a restore (D96a). */
  readonly hasHeldKeys: boolean
}

/** The data of a member that other members can see. */
export interface Member {
  readonly userId: string
  readonly name: string
  readonly role: Role
  readonly createdAt: Date
}

/** How many workspaces a user can belong to. */
export const WORKSPACES_MAX = 50
/** A list shows at most this many members. */
export const MEMBERS_LISTED_MAX = 1_000

/**
 * The facts on which `decideMemberChange` bases its decision. They are read while the workspace is locked. `actor` is
 * the role of the user who makes the change, `target` that of the member. Each is null if that user is not a member.
 */
export interface MemberChange {
  readonly actor: Role | null
  readonly target: Role | null
  /** Null removes the member. */
  readonly next: Role | null
  readonly isOwn: boolean
  /** The number of owners of the workspace. */
  readonly owners: number
}

/**
 * Decides whether a member may be changed this way. Returns null if the change is allowed. Otherwise returns the first
 * refusal that applies, in this order: the actor may not manage members, the target is not a member, the actor may not
 * manage this member, no owner would remain.
 *
 * Every member may leave. Admins may manage admins and viewers, and owners may manage every member. The last owner must
 * stay an owner.
 */
export function decideMemberChange({ actor, target, next, isOwn, owners }: MemberChange): ProblemCode | null {
  const leaves = isOwn && next === null
  const mayDo = (right: Right): boolean => leaves || (actor !== null && may(actor, right))
  if (!mayDo('manageMembers')) return 'role_insufficient'
  if (target === null) return 'member_not_found'
  if ((target === 'owner' || next === 'owner') && !mayDo('manageOwners')) return 'role_insufficient'
  if (target === 'owner' && next !== 'owner' && owners <= 1) return 'last_owner'
  return null
}

/** A user whom the workspace's log mentions, whether or not they are a member now. */
export interface KnownPerson {
  readonly userId: string
  readonly name: string
  readonly isMember: boolean
}
