import { closeWindows } from '../../limiter/limiter-store.ts'
import type { Context } from '../context.ts'
import {
  CLEAN_UP_ROWS_MAX,
  CODE_RETENTION_MS,
  UNUSED_CLIENT_RETENTION_MS,
  UNUSED_CONNECTION_RETENTION_MS,
} from './limits.ts'
import { deleteEndedAccessTokens } from './access-tokens-store.ts'
import { deleteEndedCodes } from './codes-store.ts'
import { deleteEndedRefreshTokens } from './refresh-tokens-store.ts'
import { deleteEndedRequests, deleteUnusedClients } from './requests-store.ts'
import { deleteUnusedConnections } from './connections-store.ts'

/**
 * Deletes rows that can no longer affect any decision: expired requests and tokens, codes that expired a day ago,
 * connections whose code expired a day ago without being exchanged, and clients that registered 7 days ago, if no user
 * ever decided on one of their requests. Deletes a limited number of rows per table, and returns the total.
 *
 * Used refresh tokens are kept until they would have expired, so that a second use is detected (D38).
 */
export async function cleanUpConnections(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const now = ctx.clock.now()
  const before = (milliseconds: number) => new Date(now.getTime() - milliseconds)
  const deletions = [
    deleteEndedRequests(now, CLEAN_UP_ROWS_MAX),
    deleteEndedCodes(before(CODE_RETENTION_MS), CLEAN_UP_ROWS_MAX),
    deleteEndedAccessTokens(now, CLEAN_UP_ROWS_MAX),
    deleteEndedRefreshTokens(now, CLEAN_UP_ROWS_MAX),
    deleteUnusedClients(before(UNUSED_CLIENT_RETENTION_MS), CLEAN_UP_ROWS_MAX),
  ]
  let deleted = 0
  for (const deletion of deletions) deleted += await ctx.db.runDurable(deletion)
  return deleted + (await deleteUnused(ctx, before(UNUSED_CONNECTION_RETENTION_MS)))
}

/**
 * Deletes connections whose code was never exchanged. Only the workspace's audit log, which records the consent, still
 * mentions them.
 */
async function deleteUnused(ctx: Pick<Context, 'db'>, endedBefore: Date): Promise<number> {
  return await ctx.db.transaction(async (transaction) => {
    const subjects = await transaction.run(deleteUnusedConnections(endedBefore, CLEAN_UP_ROWS_MAX))
    if (subjects.length > 0) await transaction.commit([closeWindows(subjects)])
    return subjects.length
  })
}
