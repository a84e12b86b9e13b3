import { problem } from '../../values/problem.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { joinWorkspace } from './join-workspace.ts'
import type { Membership } from './member.ts'
import { findInvitationRow, takeInvitationUse } from './members-store.ts'

/**
 * Makes a user a member through an invitation, or raises a member's role. If the user already has the invitation's role
 * or a higher one, nothing changes and no use of the invitation is counted. So accepting twice does no harm.
 *
 * Errors: 404 `invitation_not_found` (unknown, used up, revoked or expired); 409 `workspace_limit_reached`.
 */
export async function acceptInvitation(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret, userId }: { secret: string; userId: string },
): Promise<Membership> {
  if (!isSecret(SECRET_PREFIXES.invitation, secret)) throw problem('invitation_not_found')
  const now = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const found = await transaction.run(findInvitationRow(hashSecret(secret)))
    if (found === null) throw problem('invitation_not_found')
    const { workspace, invitation } = found
    return await joinWorkspace(transaction, {
      workspace,
      userId,
      role: invitation.role,
      actor: { kind: 'user', id: userId },
      now,
      details: { invitation: invitation.id },
      async takeUse() {
        const isTaken = await transaction.run(takeInvitationUse(workspace.id, invitation.id, now))
        if (!isTaken) throw problem('invitation_not_found')
      },
    })
  })
}
