import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { describeKey } from './api-key.ts'
import { findKey, type KeyReference } from './queries.ts'
import { revokeKeyRow } from './keys-store.ts'

/**
 * Revokes a key at once: the next request with it, on any server process, gets a 401. Has no effect on a key that is
 * already revoked.
 *
 * Errors: 404 `key_not_found`.
 */
export async function revokeKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { actor, ...reference }: KeyReference & { actor: Actor },
): Promise<void> {
  const key = await findKey(ctx, reference)
  if (key === null) throw problem('key_not_found')
  const now = ctx.clock.now()
  const { workspaceId, id } = key
  await ctx.db.transaction(async (transaction) => {
    if (!(await transaction.run(revokeKeyRow(workspaceId, id, now)))) return
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'key.revoked', subject: id } as const
    await transaction.commit([insertAuditEntry({ ...entry, details: describeKey(key) })])
  })
}
