import { createId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/store.ts'
import type { Context } from '../context.ts'
import { announceEvent } from '../webhooks/announce-event.ts'
import { formatGrant } from './format-grant.ts'
import { getGrant } from './get-grant.ts'
import type { Grant, SignerChange } from './grant.ts'
import { markActive, markRevoked } from './store.ts'

/** Moves a grant to what the enclave now enforces, once, with its event and its audit row. A grant that is there already stays as it is. */
export async function recordChange(
  ctx: Pick<Context, 'db' | 'clock'>,
  grant: Grant,
  change: SignerChange,
  actor: Actor,
): Promise<Grant> {
  const move = change === 'activate' ? markActive : markRevoked
  const moved = await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const after = await transaction.run(move(grant.accountId, grant.id, now))
    if (after === null) return null
    const event = {
      id: createId('event', now),
      accountId: grant.accountId,
      mode: grant.mode,
      type: change === 'activate' ? 'permission.granted' : 'permission.revoked',
      createdAt: now,
      data: { grant: formatGrant(after) },
    } as const
    const action = change === 'activate' ? 'grant.activated' : 'grant.revoked'
    const details = { mode: grant.mode, agent_id: grant.agentId, wallet: grant.walletAddress }
    const entry = { logId: grant.accountId, createdAt: now, actor, action, subject: grant.id, details } as const
    await transaction.commit([...announceEvent(event), insertAuditEntry(entry)])
    return after
  })
  if (moved !== null) return moved
  const recorded = await getGrant(ctx, { accountId: grant.accountId, grantId: grant.id })
  if (recorded.status !== (change === 'activate' ? 'active' : 'revoked')) throw problem('grant_revoked')
  return recorded
}
