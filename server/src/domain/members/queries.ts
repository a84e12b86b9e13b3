import { Problem, problem } from '../../values/problem.ts'
import { SECRET_PREFIXES, hashSecret, isSecret } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { checkMemberMoved, checkMoved } from '../moves/check-moved.ts'
import { isOpen, type Invitation } from './invitation.ts'
import { MEMBERS_LISTED_MAX, type KnownPerson, type ListedMembership, type Member, type Membership } from './member.ts'
import {
  findInvitationRow,
  findMembership,
  listKnownPersonRows,
  listMemberRows,
  listMembershipRows,
  listOpenInvitations,
  listOpenInvitationsBy,
  type InvitationRow,
} from './members-store.ts'
import { may, type Right } from '../../values/role.ts'

/** Lists a workspace's members, at most 1,000, in the order in which they joined. */
export async function listMembers(
  ctx: Pick<Context, 'db'>,
  { workspaceId }: { workspaceId: string },
): Promise<Member[]> {
  return await ctx.db.readSlow(listMemberRows(workspaceId, MEMBERS_LISTED_MAX), workspaceId)
}

/**
 * Returns a user's membership in the workspace with this slug.
 *
 * Errors: 404 `not_found`, with the same message whether there is no such workspace or the user is not a member of it;
 * 403 `role_insufficient` if their role does not have the right; 421 `workspace_moved` or 503 `workspace_moving` if they
 * were a member when the workspace left this cell.
 */
export async function getMembership(
  ctx: Pick<Context, 'db'>,
  { userId, slug, right }: { userId: string; slug: string; right: Right },
): Promise<Membership> {
  const membership = await ctx.db.read(findMembership(userId, slug))
  if (membership === null) {
    await checkMemberMoved(ctx, { userId, slug })
    throw new Problem('not_found', 'There is no workspace with this slug.')
  }
  if (!may(membership.role, right)) throw problem('role_insufficient')
  return membership
}

/** Lists the workspaces that a user belongs to, ordered by name. */
export async function listMemberships(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId }: { userId: string },
): Promise<ListedMembership[]> {
  return await ctx.db.read(listMembershipRows(userId, ctx.clock.now()))
}

/**
 * Returns the invitation with this secret, its workspace, and the name of the user who created it. Throws 404
 * `invitation_not_found` if it does not exist or can no longer be accepted, and 421 `workspace_moved` or 503
 * `workspace_moving` if its workspace has left this cell.
 */
export async function getInvitation(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret }: { secret: string },
): Promise<InvitationRow> {
  const known = isSecret(SECRET_PREFIXES.invitation, secret)
  const found = known ? await ctx.db.read(findInvitationRow(hashSecret(secret))) : null
  if (found === null) await checkMoved(ctx, secret)
  if (found === null || !isOpen(found.invitation, ctx.clock.now())) throw problem('invitation_not_found')
  return found
}

/** Lists a workspace's invitations that can still be accepted, oldest first. */
export async function listInvitations(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId }: { workspaceId: string },
): Promise<Invitation[]> {
  return await ctx.db.read(listOpenInvitations(workspaceId, ctx.clock.now()))
}

/** Lists the invitations that a member created and that can still be accepted, oldest first. */
export async function listInvitationsBy(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<Invitation[]> {
  return await ctx.db.read(listOpenInvitationsBy(workspaceId, userId, ctx.clock.now()))
}

/**
 * Returns the names of users by their ids, and whether they are members of the workspace now. The caller must make sure
 * that the ids are from the workspace's own log, because a name is returned for any existing user.
 */
export async function listKnownPeople(
  ctx: Pick<Context, 'db'>,
  { workspaceId, userIds }: { workspaceId: string; userIds: readonly string[] },
): Promise<KnownPerson[]> {
  return userIds.length === 0 ? [] : await ctx.db.readSlow(listKnownPersonRows(workspaceId, userIds))
}
