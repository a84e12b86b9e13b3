import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS } from '../events/event.ts'
import { cancelQueue } from './cancel-queue.ts'
import { deleteFinishedDeliveries, listEmptyEndpoints, listStoppedQueues } from './queue-store.ts'
import { removeEndpoint } from './endpoints-store.ts'

/** A round stays far below the time that a statement may take. */
const DELIVERIES_PER_ROUND = 5_000
const ENDPOINTS_PER_ROUND = 100

/**
 * Cancels what waits for deleted endpoints, and what has waited for disabled ones for 30 days; deletes deliveries that
 * finished 30 days ago, with their attempts, and then deleted endpoints without any. Bounded; answers how many rows.
 */
export async function cleanUpWebhooks(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const now = ctx.clock.now()
  const longAgo = new Date(now.getTime() - EVENT_RETENTION_MS)
  let cleaned = 0
  for (const { deletedAt, ...endpoint } of await ctx.db.runSlow(listStoppedQueues(longAgo, ENDPOINTS_PER_ROUND))) {
    cleaned += await cancelQueue(ctx, { endpoint, dueBefore: deletedAt === null ? longAgo : null })
  }
  cleaned += await ctx.db.runDurable(deleteFinishedDeliveries(longAgo, DELIVERIES_PER_ROUND))
  for (const { accountId, id } of await ctx.db.runSlow(listEmptyEndpoints(longAgo, ENDPOINTS_PER_ROUND))) {
    cleaned += Number(await ctx.db.runDurable(removeEndpoint(accountId, id)))
  }
  return cleaned
}
