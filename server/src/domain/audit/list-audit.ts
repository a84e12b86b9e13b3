import type { AuditEntry } from './audit-entry.ts'
import { listAuditEntries } from './audit-store.ts'
import type { Context } from '../context.ts'

/**
 * Lists at most `limit` entries of a workspace's audit log, newest first. If `before` is given, lists only entries
 * older than the entry with that id. Includes what users did with their sign-ins, passkeys and recovery codes while
 * they were members (D48).
 */
export async function listAudit(
  ctx: Pick<Context, 'db'>,
  { workspaceId, before, limit }: { workspaceId: string; before: string | null; limit: number },
): Promise<AuditEntry[]> {
  return await ctx.db.readSlow(listAuditEntries(workspaceId, { before, limit }), workspaceId)
}
