import { isId } from '../../values/ids.ts'
import { Problem, problem } from '../../values/problem.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import type { Grant } from './grant.ts'
import { grantRevoked } from './refusal.ts'
import { findGrant, markSuspended } from './grants-store.ts'

/**
 * Stops an active grant at once, without a signature: the pre-check no longer sees it (D15). One that is suspended stays
 * as it is. Errors: 409 `grant_not_active` (nothing to stop yet), `grant_revoked`, whose details name what took its
 * place; 404.
 */
export async function suspendGrant(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, grantId, actor = OPERATOR }: { accountId: string; grantId: string; actor?: Actor },
): Promise<Grant> {
  if (!isId('grant', grantId)) throw new Problem('not_found', 'No such grant.')
  const now = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const [isSuspended, grant] = await transaction.batch([
      markSuspended(accountId, grantId, now),
      findGrant(accountId, grantId),
    ])
    if (grant === null) throw new Problem('not_found', 'No such grant.')
    if (grant.status === 'revoked') throw grantRevoked(grant)
    if (grant.status === 'pending') throw problem('grant_not_active')
    if (!isSuspended) return grant
    const details = { mode: grant.mode, agent_id: grant.agentId, wallet: grant.walletAddress }
    const entry = { logId: accountId, createdAt: now, actor, action: 'grant.suspended', details } as const
    await transaction.commit([insertAuditEntry({ ...entry, subject: grantId })])
    return grant
  })
}
