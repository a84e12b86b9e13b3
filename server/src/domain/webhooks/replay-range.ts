import { createId, idBoundary } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS } from '../events/event.ts'
import { REPLAYS_MAX } from './delivery.ts'
import { hasPendingReplays, insertReplays } from './deliveries-store.ts'
import { lockEnabledEndpoint } from './lock-endpoint.ts'

const REPLAYS_PER_STATEMENT = 1_000

export interface RangeRequest {
  readonly workspaceId: string
  readonly endpointId: string
  readonly from: Date
  /** Only deliveries created before this time are replayed. */
  readonly to: Date
  /**
   * `failed` replays deliveries that failed permanently, except those whose event a later replay has delivered. If
   * there are more than 10,000, the caller can repeat the same call for the rest, after the first replays have been
   * delivered. `all` also replays deliveries that succeeded or were canceled. Pending deliveries are never replayed,
   * because they are sent anyway.
   */
  readonly only: 'failed' | 'all'
  readonly actor: Actor
}

/**
 * Replays an endpoint's deliveries that were created in a range of time, at most 10,000 and only from the last 30 days.
 * Returns how many were replayed. If the call fails, none of them is replayed.
 *
 * While earlier replays to the endpoint are still queued, throws 409 `replays_pending`, so that the queue cannot grow
 * without limit (D45). Errors: 404 `webhook_not_found`; 409 `endpoint_disabled`, `replays_pending`.
 */
export async function replayRange(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, endpointId, from, to, only, actor }: RangeRequest,
): Promise<number> {
  const now = ctx.clock.now()
  const start = new Date(Math.max(from.getTime(), now.getTime() - EVENT_RETENTION_MS))
  const below = idBoundary('delivery', to)
  return await ctx.db.transaction(async (transaction) => {
    const { mode } = await lockEnabledEndpoint(transaction, { workspaceId, id: endpointId })
    // The endpoint is locked, so no other call can replay deliveries to it meanwhile.
    if (await transaction.run(hasPendingReplays(workspaceId, endpointId))) throw problem('replays_pending')
    let count = 0
    let next = idBoundary('delivery', start)
    while (count < REPLAYS_MAX) {
      const ids = Array.from({ length: REPLAYS_PER_STATEMENT }, () => createId('delivery', now))
      const batch = { workspaceId, endpointId, from: next, below, only, ids, now }
      const replayed = await transaction.run(insertReplays(batch))
      count += replayed.count
      if (replayed.last === null || replayed.count < ids.length) break
      next = justAfter(replayed.last)
    }
    if (count === 0) return 0
    const range = { from: start.toISOString(), to: to.toISOString() }
    const details = { mode, ...range, only, count }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'webhook.replayed', details } as const
    await transaction.commit([insertAuditEntry({ ...entry, subject: endpointId })])
    return count
  })
}

/** Returns a text that sorts directly after this id, before every later one. */
function justAfter(id: string): string {
  return `${id}_`
}
