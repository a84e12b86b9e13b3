import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { takeRecipient } from './recipients-store.ts'

/**
 * Removes the label of an address, or throws 404 `recipient_not_found`. Grants that allow the address are not changed.
 */
export async function removeRecipient(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, address, actor }: { workspaceId: string; mode: Mode; address: Address; actor: Actor },
): Promise<void> {
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const label = await transaction.run(takeRecipient(workspaceId, mode, address))
    if (label === null) throw problem('recipient_not_found')
    const entry = { logId: workspaceId, createdAt, actor, action: 'recipient.removed', subject: address } as const
    await transaction.commit([insertAuditEntry({ ...entry, details: { mode, label } })])
  })
}
