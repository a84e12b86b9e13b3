import type { ProblemCode } from '../../values/problem.ts'
import type { Account } from '../accounts/account.ts'
import { mayAct, type Role } from './role.ts'

/** A person's place in a workspace. */
export interface Membership {
  readonly account: Account
  readonly userId: string
  readonly role: Role
  readonly createdAt: Date
}

/** A member as the others see them. */
export interface Member {
  readonly userId: string
  readonly name: string
  readonly role: Role
  readonly createdAt: Date
}

/** As many workspaces as one person can belong to. */
export const WORKSPACES_MAX = 50
/** A list of members ends here. */
export const MEMBERS_LISTED_MAX = 1_000

/** What a change of a member is judged by, read under the account's lock. Null: not a member (any more). */
export interface MemberChange {
  readonly actor: Role | null
  readonly target: Role | null
  /** Null: the member goes. */
  readonly next: Role | null
  readonly isOwn: boolean
  /** How many owners the workspace has. */
  readonly owners: number
}

/**
 * Whether a member may be changed so: who leaves needs nobody's leave; an admin manages admins and viewers, an owner
 * everybody; the last owner stays one. In this order: may the actor manage members, is it one, may the actor manage
 * this one, does an owner remain.
 */
export function decideMemberChange({ actor, target, next, isOwn, owners }: MemberChange): ProblemCode | null {
  const leaves = isOwn && next === null
  if (!leaves && (actor === null || !mayAct(actor, 'admin'))) return 'role_insufficient'
  if (target === null) return 'member_not_found'
  if (!leaves && (target === 'owner' || next === 'owner') && actor !== 'owner') return 'role_insufficient'
  if (target === 'owner' && next !== 'owner' && owners <= 1) return 'last_owner'
  return null
}

/** Somebody whom a workspace has known, a member of it now or not. */
export interface KnownPerson {
  readonly userId: string
  readonly name: string
  readonly isMember: boolean
}
