import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { findConnectionId, markConnectionRevoked } from './connections-store.ts'

/**
 * Revokes a connection at once: the next request with one of its tokens, on any server process, gets a 401. Has no
 * effect on a connection that is already revoked.
 *
 * Errors: 404 `connection_not_found`.
 */
export async function revokeConnection(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, id, actor }: { workspaceId: string; id: string; actor: Actor },
): Promise<void> {
  if (!isId('connection', id)) throw problem('connection_not_found')
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const [revoked, known] = await transaction.batch([
      markConnectionRevoked({ workspaceId, id }, 'user', createdAt),
      findConnectionId(workspaceId, id),
    ])
    if (known === null) throw problem('connection_not_found')
    if (!revoked) return
    const action = 'connection.revoked'
    await transaction.commit([insertAuditEntry({ logId: workspaceId, createdAt, actor, action, subject: id })])
  })
}
