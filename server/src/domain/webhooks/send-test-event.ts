import { createId } from '../../values/ids.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { TEST_EVENT_TYPE } from '../events/event.ts'
import { insertEvents } from '../events/events-store.ts'
import type { Delivery } from './delivery.ts'
import { insertDelivery } from './deliveries-store.ts'
import { lockEnabledEndpoint } from './lock-endpoint.ts'
import { makeDelivery } from './make-delivery.ts'

/**
 * Sends a test event to one endpoint, whatever events the endpoint is subscribed to. The delivery is tried once.
 *
 * Errors: 404 `webhook_not_found`; 409 `endpoint_disabled`.
 */
export async function sendTestEvent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, id, actor }: { workspaceId: string; id: string; actor: Actor },
): Promise<Delivery> {
  const now = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const { mode } = await lockEnabledEndpoint(transaction, { workspaceId, id })
    const event = {
      id: createId('event', now),
      workspaceId,
      mode,
      type: TEST_EVENT_TYPE,
      createdAt: now,
      data: { webhook: { id } },
    } as const
    const delivery = makeDelivery(event, { endpointId: id, trigger: 'test', now })
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'webhook.tested', details: { mode } } as const
    await transaction.commit([
      insertEvents([event]),
      insertDelivery(delivery),
      insertAuditEntry({ ...entry, subject: id }),
    ])
    return delivery
  })
}
