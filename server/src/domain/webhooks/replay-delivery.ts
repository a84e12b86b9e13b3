import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { findRecentEvent } from '../events/queries.ts'
import { isDeliveryId, type Delivery } from './delivery.ts'
import { findDelivery, insertDelivery } from './deliveries-store.ts'
import { lockEnabledEndpoint } from './lock-endpoint.ts'
import { makeDelivery } from './make-delivery.ts'

/**
 * Sends the event of a delivery to its endpoint again, as a new delivery that is tried once. The schedule of the
 * original delivery does not change. Each replay creates another delivery.
 *
 * Errors: 404 `delivery_not_found`, `webhook_not_found` if the endpoint is deleted, `event_not_found` if the event is
 * older than 30 days; 409 `endpoint_disabled`.
 */
export async function replayDelivery(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, deliveryId, actor }: { workspaceId: string; deliveryId: string; actor: Actor },
): Promise<Delivery> {
  const now = ctx.clock.now()
  const first = isDeliveryId(deliveryId) ? await ctx.db.read(findDelivery(workspaceId, deliveryId)) : null
  if (first === null) throw problem('delivery_not_found')
  const { endpointId, eventId, mode } = first
  const event = await findRecentEvent(ctx, { workspaceId, id: eventId })
  return await ctx.db.transaction(async (transaction) => {
    await lockEnabledEndpoint(transaction, { workspaceId, id: endpointId })
    if (event === null) throw problem('event_not_found')
    const replay = makeDelivery(event, { endpointId, trigger: 'replay', now })
    const details = { mode, webhook: endpointId, event: eventId, replay_of: deliveryId }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'webhook.replayed', details } as const
    await transaction.commit([insertDelivery(replay), insertAuditEntry({ ...entry, subject: replay.id })])
    return replay
  })
}
