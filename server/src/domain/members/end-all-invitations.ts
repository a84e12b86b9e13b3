import type { Operator } from '../audit/audit-entry.ts'
import { insertAuditEntries } from '../audit/audit-store.ts'
import { changeAllRows } from '../change-all-rows.ts'
import type { Context } from '../context.ts'
import { revokeInvitationsAfter } from './members-store.ts'

/**
 * Revokes the open invitations of all workspaces. For use after the database was restored from a backup, which brings
 * back invitations that were used or revoked since (D96a).
 *
 * Can be called again after a failure.
 */
export async function endAllInvitations(
  ctx: Pick<Context, 'db' | 'clock'>,
  { actor }: { actor: Operator },
): Promise<{ invitations: number }> {
  const createdAt = ctx.clock.now()
  const entry = { createdAt, actor, action: 'invitation.revoked', details: { because: 'restore' } } as const
  const invitations = await changeAllRows(ctx, {
    change: (after, rowsMax) => revokeInvitationsAfter(after, rowsMax, createdAt),
    record: (rows) => [
      insertAuditEntries(rows.map(({ workspaceId, id }) => ({ ...entry, logId: workspaceId, subject: id }))),
    ],
  })
  return { invitations }
}
