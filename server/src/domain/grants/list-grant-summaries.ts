import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { GrantSummary } from './grant.ts'
import { listSummaries, type GrantFilter } from './summaries-store.ts'

const GRANTS_LISTED_MAX = 200

/** The grants of (account, mode), at most 200: those that are not revoked first, then the newest first. */
export async function listGrantSummaries(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode, userId, ...filter }: GrantFilter & { accountId: string; mode: Mode; userId: string },
): Promise<GrantSummary[]> {
  const now = ctx.clock.now()
  return await ctx.db.runSlow(listSummaries(accountId, mode, { ...filter, limit: GRANTS_LISTED_MAX, userId, now }))
}
