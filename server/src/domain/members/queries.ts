import { Problem, problem } from '../../values/problem.ts'
import { SECRET_PREFIXES, hashSecret, isSecret } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { isOpen, type Invitation } from './invitation.ts'
import { MEMBERS_LISTED_MAX, type KnownPerson, type Member, type Membership } from './member.ts'
import {
  findInvitationRow,
  findMembership,
  listKnownPersonRows,
  listMemberRows,
  listMembershipRows,
  listOpenInvitations,
  type InvitationRow,
} from './members-store.ts'
import { mayAct, type Role } from './role.ts'

/** A workspace's members, those who have been there longest first; the first 1000. */
export async function listMembers(ctx: Pick<Context, 'db'>, { accountId }: { accountId: string }): Promise<Member[]> {
  return await ctx.db.runSlow(listMemberRows(accountId, MEMBERS_LISTED_MAX))
}

/**
 * A person's place in the workspace with this slug. Who has none is answered as if there were no such workspace: 404.
 * Below the needed role: 403 `role_insufficient`.
 */
export async function getMembership(
  ctx: Pick<Context, 'db'>,
  { userId, slug, role }: { userId: string; slug: string; role: Role },
): Promise<Membership> {
  const membership = await ctx.db.runRelaxed(findMembership(userId, slug))
  if (membership === null) throw new Problem('not_found', 'There is no workspace with this slug.')
  if (!mayAct(membership.role, role)) throw problem('role_insufficient')
  return membership
}

/** The workspaces that a person belongs to, by name. */
export async function listMemberships(ctx: Pick<Context, 'db'>, { userId }: { userId: string }): Promise<Membership[]> {
  return await ctx.db.runRelaxed(listMembershipRows(userId))
}

/** What a secret invites to, and the name of who did; 404 `invitation_not_found` when nobody can join by it. */
export async function findInvitation(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret }: { secret: string },
): Promise<InvitationRow> {
  const known = isSecret(SECRET_PREFIXES.invitation, secret)
  const found = known ? await ctx.db.runRelaxed(findInvitationRow(hashSecret(secret))) : null
  if (found === null || !isOpen(found.invitation, ctx.clock.now())) throw problem('invitation_not_found')
  return found
}

/** The invitations of a workspace by which somebody can still join, oldest first. */
export async function listInvitations(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId }: { accountId: string },
): Promise<Invitation[]> {
  return await ctx.db.runRelaxed(listOpenInvitations(accountId, ctx.clock.now()))
}

/**
 * The names of people whom a workspace has known, by their ids, and whether they are its members now. The caller vouches
 * that the ids stand in the workspace's own log: a name is told for each that is somebody's.
 */
export async function listKnownPeople(
  ctx: Pick<Context, 'db'>,
  { accountId, userIds }: { accountId: string; userIds: readonly string[] },
): Promise<KnownPerson[]> {
  return userIds.length === 0 ? [] : await ctx.db.runSlow(listKnownPersonRows(accountId, userIds))
}
