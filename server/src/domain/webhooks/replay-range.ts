import { createId, idBoundary } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS } from '../events/event.ts'
import { hasPendingReplays, insertReplays } from './deliveries-store.ts'
import { lockEnabledEndpoint } from './lock-endpoint.ts'

/** So many events one call replays, oldest first. */
export const REPLAYS_MAX = 10_000
const REPLAYS_PER_STATEMENT = 1_000

export interface RangeRequest {
  readonly accountId: string
  readonly endpointId: string
  readonly from: Date
  /** Up to this time, without it. */
  readonly to: Date
  /**
   * `failed`: what has failed for good, but for what a replay has brought since, so that after 10,000 the same call goes
   * on once those were sent. `all`: what was delivered too. What is still pending comes by itself.
   */
  readonly only: 'failed' | 'all'
  readonly actor?: Actor
}

/**
 * Replays the events of the last 30 days that an endpoint had deliveries of in a range of time, 10,000 at the most;
 * answers how many. Either all of it is done or nothing. While earlier replays of the endpoint are still queued nothing is
 * replayed (D45), so that nobody makes a queue as long as they like. Errors: 404 `webhook_not_found`; 409
 * `endpoint_disabled`, `replays_pending`.
 */
export async function replayRange(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, endpointId, from, to, only, actor = OPERATOR }: RangeRequest,
): Promise<number> {
  const now = ctx.clock.now()
  const start = new Date(Math.max(from.getTime(), now.getTime() - EVENT_RETENTION_MS))
  const below = idBoundary('delivery', to)
  return await ctx.db.transaction(async (transaction) => {
    const { mode } = await lockEnabledEndpoint(transaction, { accountId, id: endpointId })
    // Nobody else replays meanwhile: the endpoint is locked.
    if (await transaction.run(hasPendingReplays(accountId, endpointId))) throw problem('replays_pending')
    let count = 0
    let next = idBoundary('delivery', start)
    while (count < REPLAYS_MAX) {
      const ids = Array.from({ length: REPLAYS_PER_STATEMENT }, () => createId('delivery', now))
      const batch = { accountId, endpointId, from: next, below, only, ids, now }
      const replayed = await transaction.run(insertReplays(batch))
      count += replayed.count
      if (replayed.last === null || replayed.count < ids.length) break
      next = justAfter(replayed.last)
    }
    if (count === 0) return 0
    const range = { from: start.toISOString(), to: to.toISOString() }
    const details = { mode, ...range, only, count }
    const entry = { logId: accountId, createdAt: now, actor, action: 'webhook.replayed', details } as const
    await transaction.commit([insertAuditEntry({ ...entry, subject: endpointId })])
    return count
  })
}

/** Sorts after this id, and before every later one. */
function justAfter(id: string): string {
  return `${id}_`
}
