import type { AuditEntry } from './audit-entry.ts'
import { listAuditEntries } from './audit-store.ts'
import type { Context } from '../context.ts'

/**
 * Lists what happened in a workspace, newest first and at most `limit` entries. If `before` is given, only entries
 * older than that entry. Includes the sign-ins, passkeys and recovery codes of users who were members at the time
 * (D48).
 */
export async function listAudit(
  ctx: Pick<Context, 'db'>,
  { accountId, before, limit }: { accountId: string; before: string | null; limit: number },
): Promise<AuditEntry[]> {
  return await ctx.db.runSlow(listAuditEntries(accountId, { before, limit }))
}
