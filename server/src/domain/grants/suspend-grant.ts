import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { getGrant } from './get-grant.ts'
import type { Grant } from './grant.ts'
import { markSuspended } from './store.ts'

/** Stops a grant at once, without a signature: the pre-check no longer sees it (D15). 409 `grant_revoked`, 404. */
export async function suspendGrant(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, grantId }: { accountId: string; grantId: string },
): Promise<Grant> {
  const grant = await getGrant(ctx, { accountId, grantId })
  const suspended = await ctx.db.write(markSuspended(grant.accountId, grant.id, ctx.clock.now()))
  if (suspended === null) throw problem('grant_revoked')
  return suspended
}
