import type { Query } from '../../db/query.ts'
import { problem } from '../../values/problem.ts'
import { lockAccount } from '../accounts/accounts-store.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type Proof } from '../require-recent-proof.ts'
import { decideMemberChange, type Membership } from './member.ts'
import { countOwners, deleteMember, findMember, revokeInvitationsBy, updateRole } from './members-store.ts'
import { hasPower, mayInvite, ROLES, type Role } from './role.ts'

export interface MembershipChange {
  readonly membership: Membership
  /** The session of the user who makes the change, with the time of their last proof of presence. */
  readonly session: Proof
  readonly userId: string
  /** Null removes the member. */
  readonly role: Role | null
}

/**
 * Changes a member's role, or removes the member if `role` is null. Locks the workspace and reads the roles again
 * before it decides. So the last two owners cannot both leave at the same time.
 *
 * Also revokes the open invitations that the member created for roles to which they may no longer invite. Otherwise a
 * removed member could join again through their own invitation.
 *
 * Throws 403 `verification_required` if the old or the new role is owner or admin, and the user who makes the change
 * has no recent proof of presence (D59). This also applies to owners and admins who leave the workspace.
 */
export async function changeMembership(
  ctx: Pick<Context, 'db' | 'clock'>,
  { membership, session, userId, role: next }: MembershipChange,
): Promise<void> {
  const now = ctx.clock.now()
  const accountId = membership.account.id
  const actor = { kind: 'user', id: membership.userId } as const
  const isOwn = userId === membership.userId
  const entry = { logId: accountId, createdAt: now, actor } as const
  await ctx.db.transaction(async (transaction) => {
    const [, actorNow, targetNow, owners] = await transaction.batch([
      lockAccount(accountId),
      findMember(accountId, membership.userId),
      findMember(accountId, userId),
      countOwners(accountId),
    ])
    const [actorRole, target] = [actorNow?.role ?? null, targetNow?.role ?? null]
    const refusal = decideMemberChange({ actor: actorRole, target, next, isOwn, owners })
    if (refusal !== null) throw problem(refusal)
    if (target === null || target === next) return
    if (hasPower(target) || (next !== null && hasPower(next))) requireRecentProof(session, now)

    const lost = ROLES.filter((role) => mayInvite(target, role) && (next === null || !mayInvite(next, role)))
    const revoked = lost.length === 0 ? [] : await transaction.run(revokeInvitationsBy(accountId, userId, lost, now))
    await transaction.commit([
      ...(next === null ? leave() : change(next, target)),
      ...revoked.map((id) => insertAuditEntry({ ...entry, action: 'invitation.revoked', subject: id })),
    ])
  })

  function leave(): Query<unknown>[] {
    const entryOfChange = insertAuditEntry({ ...entry, action: 'member.removed', subject: userId })
    return [deleteMember(accountId, userId), entryOfChange]
  }

  function change(role: Role, before: Role): Query<unknown>[] {
    const details = { role, before }
    const entryOfChange = insertAuditEntry({ ...entry, action: 'member.role_changed', subject: userId, details })
    return [updateRole(accountId, userId, role), entryOfChange]
  }
}
