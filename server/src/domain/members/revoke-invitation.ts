import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { revokeInvitationRow } from './members-store.ts'

/** Revokes an open invitation, so it can no longer be accepted. Throws 404 `invitation_not_found` if it is not open. */
export async function revokeInvitation(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, id, actor }: { workspaceId: string; id: string; actor: Actor },
): Promise<void> {
  if (!isId('invitation', id)) throw problem('invitation_not_found')
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const isRevoked = await transaction.run(revokeInvitationRow(workspaceId, id, createdAt))
    if (!isRevoked) throw problem('invitation_not_found')
    const entry = { logId: workspaceId, createdAt, actor, action: 'invitation.revoked', subject: id } as const
    await transaction.commit([insertAuditEntry(entry)])
  })
}
