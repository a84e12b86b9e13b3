import { isId } from '../../values/ids.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { GrantSummary } from './grant.ts'
import { findSummary } from './summaries-store.ts'

/** One grant of the account, as `userId` is shown it, or 404 `not_found`. */
export async function getGrantSummary(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, grantId, userId }: { accountId: string; grantId: string; userId: string },
): Promise<GrantSummary> {
  const found = isId('grant', grantId)
    ? await ctx.db.runRelaxed(findSummary(accountId, grantId, { userId, now: ctx.clock.now() }))
    : null
  if (found === null) throw new Problem('not_found', 'No such grant.')
  return found
}
