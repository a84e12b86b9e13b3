import { closeWindows } from '../../limiter/limiter-store.ts'
import type { Context } from '../context.ts'
import { CLEAN_UP_ROWS_MAX, CODE_KEPT_MS, UNUSED_CLIENT_KEPT_MS, UNUSED_CONNECTION_KEPT_MS } from './limits.ts'
import { deleteEndedAccessTokens } from './access-tokens-store.ts'
import { deleteEndedCodes } from './codes-store.ts'
import { deleteEndedRefreshTokens } from './refresh-tokens-store.ts'
import { deleteEndedRequests, deleteUnusedClients } from './requests-store.ts'
import { deleteUnusedConnections } from './connections-store.ts'

/**
 * Deletes a bounded number of rows that nothing is decided by any more, and answers how many: ended requests and tokens,
 * codes a day after their end, connections whose code was
 * never exchanged a day after that code's end, clients that nobody ever decided on. Rotated refresh tokens stay as long as they would
 * have lived, so that a second use is recognized (D38).
 */
export async function cleanUpConnections(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const now = ctx.clock.now()
  const before = (milliseconds: number) => new Date(now.getTime() - milliseconds)
  const deletions = [
    deleteEndedRequests(now, CLEAN_UP_ROWS_MAX),
    deleteEndedCodes(before(CODE_KEPT_MS), CLEAN_UP_ROWS_MAX),
    deleteEndedAccessTokens(now, CLEAN_UP_ROWS_MAX),
    deleteEndedRefreshTokens(now, CLEAN_UP_ROWS_MAX),
    deleteUnusedClients(before(UNUSED_CLIENT_KEPT_MS), CLEAN_UP_ROWS_MAX),
  ]
  let deleted = 0
  for (const deletion of deletions) deleted += await ctx.db.runDurable(deletion)
  return deleted + (await deleteUnused(ctx, before(UNUSED_CONNECTION_KEPT_MS)))
}

/** The audit log of the workspace tells of the consent; nothing else names such a connection. */
async function deleteUnused(ctx: Pick<Context, 'db'>, endedBefore: Date): Promise<number> {
  return await ctx.db.transaction(async (transaction) => {
    const subjects = await transaction.run(deleteUnusedConnections(endedBefore, CLEAN_UP_ROWS_MAX))
    if (subjects.length > 0) await transaction.commit([closeWindows(subjects)])
    return subjects.length
  })
}
