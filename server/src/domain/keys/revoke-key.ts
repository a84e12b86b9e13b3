import { hashSecret } from '../../values/secret.ts'
import { Problem } from '../../values/problem.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/store.ts'
import type { Context } from '../context.ts'
import { findKey, revokeKeyRow } from './store.ts'

/**
 * Revokes a key at once: the very next request with it, at any process, is 401. One that is revoked stays as it is; an
 * unknown key is 404.
 */
export async function revokeKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret, actor = OPERATOR }: { secret: string; actor?: Actor },
): Promise<void> {
  const now = ctx.clock.now()
  const secretHash = hashSecret(secret)
  await ctx.db.transaction(async (transaction) => {
    const [isRevoked, key] = await transaction.batch([revokeKeyRow(secretHash, now), findKey(secretHash)])
    if (key === null) throw new Problem('not_found', 'No such key.')
    if (!isRevoked) return
    const entry = { logId: key.accountId, createdAt: now, actor, action: 'key.revoked', subject: key.id } as const
    await transaction.commit([insertAuditEntry({ ...entry, details: { mode: key.mode } })])
  })
}
