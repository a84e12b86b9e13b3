import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { SAVED_RECIPIENTS_MAX, type Recipient } from './recipient.ts'
import { countRecipients, findRecipient, saveRecipient } from './recipients-store.ts'

/**
 * Gives an address a label, or changes its label.
 *
 * Errors: 409 `recipient_limit_reached` if the limit of labels is reached (exact even if labels are added
 * concurrently).
 */
export async function labelRecipient(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    workspaceId,
    mode,
    address,
    label,
    actor,
  }: { workspaceId: string; mode: Mode; address: Address; label: string; actor: Actor },
): Promise<Recipient> {
  return await ctx.db.transaction(async (transaction) => {
    const [, before, count] = await transaction.batch([
      lockWorkspace(workspaceId),
      findRecipient(workspaceId, mode, address),
      countRecipients(workspaceId, mode),
    ])
    if (before === null && count >= SAVED_RECIPIENTS_MAX) {
      throw problem('recipient_limit_reached', { details: { recipients_max: SAVED_RECIPIENTS_MAX } })
    }
    if (before?.label === label) return before
    const now = ctx.clock.now()
    const recipient = { workspaceId, mode, address, label, createdAt: before?.createdAt ?? now }
    const details = { mode, label, ...(before === null ? {} : { before: before.label }) }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'recipient.labeled', details } as const
    await transaction.commit([saveRecipient(recipient), insertAuditEntry({ ...entry, subject: address })])
    return recipient
  })
}
