import { isId } from '../../values/ids.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Grant } from './grant.ts'
import { findGrant } from './grants-store.ts'

/** One grant of the account, or 404 `not_found`. */
export async function getGrant(
  ctx: Pick<Context, 'db'>,
  { accountId, grantId }: { accountId: string; grantId: string },
): Promise<Grant> {
  const grant = isId('grant', grantId) ? await ctx.db.runRelaxed(findGrant(accountId, grantId)) : null
  if (grant === null) throw new Problem('not_found', 'No such grant.')
  return grant
}
