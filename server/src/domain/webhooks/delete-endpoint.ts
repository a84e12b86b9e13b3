import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { cancelQueue } from './cancel-queue.ts'
import { markEndpointDeleted } from './endpoints-store.ts'

/** Deletes an endpoint: what it was still to be sent is canceled, its log stays. Errors: 404 `webhook_not_found`. */
export async function deleteEndpoint(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, id, actor = OPERATOR }: { accountId: string; id: string; actor?: Actor },
): Promise<void> {
  if (!isId('endpoint', id)) throw problem('webhook_not_found')
  const now = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const deleted = await transaction.run(markEndpointDeleted(accountId, id, now))
    if (deleted === null) throw problem('webhook_not_found')
    const details = { mode: deleted.mode, host: new URL(deleted.url).host }
    const entry = { logId: accountId, createdAt: now, actor, action: 'webhook.deleted', subject: id, details } as const
    await transaction.commit([insertAuditEntry(entry)])
  })
  // Not under the endpoint's lock, since there may be very many. What is left over the cleaning cancels.
  await cancelQueue(ctx, { endpoint: { accountId, id }, dueBefore: null })
}
