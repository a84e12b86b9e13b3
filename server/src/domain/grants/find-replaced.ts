import type { Context } from '../context.ts'
import type { Grant } from './grant.ts'
import { findGrant } from './grants-store.ts'

/** The grant whose place this one takes, if there is one. */
export async function findReplaced(
  ctx: Pick<Context, 'db'>,
  { accountId, replaces }: Pick<Grant, 'accountId' | 'replaces'>,
): Promise<Grant | null> {
  return replaces === null ? null : await ctx.db.runRelaxed(findGrant(accountId, replaces))
}
