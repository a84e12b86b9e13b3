import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS } from '../events/event.ts'
import { cancelPendingDeliveries } from './cancel-pending-deliveries.ts'
import { deleteFinishedDeliveries, listEmptyEndpoints, listStoppedQueues } from './clean-up-store.ts'
import { deleteEndpointRow } from './endpoints-store.ts'

/** Small enough that one round stays far below the time limit of a database statement. */
const DELIVERIES_PER_ROUND = 5_000
const ENDPOINTS_PER_ROUND = 100

/**
 * Cancels the pending deliveries of deleted endpoints, and deliveries that have waited for a disabled endpoint for 30
 * days. Deletes deliveries that finished 30 days ago, with their attempts. Finally, removes the rows of endpoints that
 * were deleted 30 days ago and have no deliveries left. Processes a limited number of rows, and returns how many.
 */
export async function cleanUpWebhooks(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const now = ctx.clock.now()
  const longAgo = new Date(now.getTime() - EVENT_RETENTION_MS)
  let cleaned = 0
  for (const { deletedAt, ...endpoint } of await ctx.db.readSlow(listStoppedQueues(longAgo, ENDPOINTS_PER_ROUND))) {
    cleaned += await cancelPendingDeliveries(ctx, { endpoint, dueBefore: deletedAt === null ? longAgo : null })
  }
  cleaned += await ctx.db.write(deleteFinishedDeliveries(longAgo, DELIVERIES_PER_ROUND))
  for (const { workspaceId, id } of await ctx.db.readSlow(listEmptyEndpoints(longAgo, ENDPOINTS_PER_ROUND))) {
    cleaned += Number(await ctx.db.write(deleteEndpointRow(workspaceId, id)))
  }
  return cleaned
}
