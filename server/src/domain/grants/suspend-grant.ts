import { isId } from '../../values/ids.ts'
import { Problem, problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { appendEvent } from '../webhooks/append-event.ts'
import type { Grant } from './grant.ts'
import { grantRevoked } from './grant-problems.ts'
import { findGrant, markSuspended } from './grants-store.ts'
import { grantEvent } from './record-status-change.ts'

/**
 * Suspends an active grant at once, without a signature. From now on the service rejects payments under this grant
 * before it calls the enclave (D15). Has no effect if the grant is suspended already.
 *
 * Errors: 404; 409 `grant_not_active` if the grant is still pending; 409 `grant_revoked`, whose details name the grant
 * that replaced it, if there is one.
 */
export async function suspendGrant(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, grantId, actor }: { workspaceId: string; grantId: string; actor: Actor },
): Promise<Grant> {
  if (!isId('grant', grantId)) throw new Problem('not_found', 'There is no grant with this id in this workspace.')
  const now = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const [suspended, grant] = await transaction.batch([
      markSuspended(workspaceId, grantId, now),
      findGrant(workspaceId, grantId),
    ])
    if (grant === null) throw new Problem('not_found', 'There is no grant with this id in this workspace.')
    if (grant.status === 'revoked') throw grantRevoked(grant)
    if (grant.status === 'pending') throw problem('grant_not_active')
    if (suspended === null) return grant
    const details = { mode: grant.mode, agent_id: grant.agentId, wallet: grant.walletAddress }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'grant.suspended', details } as const
    await transaction.commit([
      insertAuditEntry({ ...entry, subject: grantId }),
      ...appendEvent(grantEvent('permission.suspended', suspended, now)),
    ])
    return suspended
  })
}
