import type { AuditEntry } from '../audit/audit-entry.ts'
import { listAuditEntries } from '../audit/store.ts'
import type { Context } from '../context.ts'
import { listMembers } from './list-members.ts'

/**
 * What happened in a workspace, and what its members did with their own sign-ins, passkeys and codes (D48); newest first,
 * `limit` at the most, before the entry `before` where one is given.
 */
export async function listAudit(
  ctx: Pick<Context, 'db'>,
  { accountId, before, limit }: { accountId: string; before: string | null; limit: number },
): Promise<AuditEntry[]> {
  const members = await listMembers(ctx, { accountId })
  const logIds = [accountId, ...members.map(({ userId }) => userId)]
  return await ctx.db.readLarge(listAuditEntries(logIds, { before, limit }))
}
