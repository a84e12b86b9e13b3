import type { AuditEntry } from './audit-entry.ts'
import { listAuditEntries } from './audit-store.ts'
import type { Context } from '../context.ts'

/**
 * What happened in a workspace, the sign-ins, passkeys and codes of whoever was a member then included (D48); newest
 * first, `limit` at the most, before the entry `before` where one is given.
 */
export async function listAudit(
  ctx: Pick<Context, 'db'>,
  { accountId, before, limit }: { accountId: string; before: string | null; limit: number },
): Promise<AuditEntry[]> {
  return await ctx.db.runSlow(listAuditEntries(accountId, { before, limit }))
}
