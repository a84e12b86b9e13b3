import { createId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { insertEvent } from '../events/store.ts'
import { formatGrant } from './format-grant.ts'
import { getGrant } from './get-grant.ts'
import type { Grant, SignerChange } from './grant.ts'
import { markActive, markRevoked } from './store.ts'

/** Moves a grant to what the enclave now enforces, once, with its event. A grant that is there already stays as it is. */
export async function recordChange(
  ctx: Pick<Context, 'db' | 'clock'>,
  grant: Grant,
  change: SignerChange,
): Promise<Grant> {
  const now = ctx.clock.now()
  const move = change === 'activate' ? markActive : markRevoked
  const moved = await ctx.db.transaction(async (transaction) => {
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
    await transaction.commit([insertEvent(event)])
    return after
  })
  if (moved !== null) return moved
  const recorded = await getGrant(ctx, { accountId: grant.accountId, grantId: grant.id })
  if (recorded.status !== (change === 'activate' ? 'active' : 'revoked')) throw problem('grant_revoked')
  return recorded
}
