import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { cancelPendingDeliveries } from './cancel-pending-deliveries.ts'
import { markEndpointDeleted } from './endpoints-store.ts'

/**
 * Deletes an endpoint and cancels its pending deliveries. Its delivery log is kept.
 *
 * Errors: 404 `webhook_not_found`.
 */
export async function deleteEndpoint(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, id, actor }: { workspaceId: string; id: string; actor: Actor },
): Promise<void> {
  if (!isId('endpoint', id)) throw problem('webhook_not_found')
  const now = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const deleted = await transaction.run(markEndpointDeleted(workspaceId, id, now))
    if (deleted === null) throw problem('webhook_not_found')
    const details = { mode: deleted.mode, host: new URL(deleted.url).host }
    const entry = {
      logId: workspaceId,
      createdAt: now,
      actor,
      action: 'webhook.deleted',
      subject: id,
      details,
    } as const
    await transaction.commit([insertAuditEntry(entry)])
  })
  // There may be very many deliveries, so they are canceled after the endpoint's lock is released. The clean-up job
  // cancels any that are left.
  await cancelPendingDeliveries(ctx, { endpoint: { workspaceId, id }, dueBefore: null })
}
