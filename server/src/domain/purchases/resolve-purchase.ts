import { isId } from '../../values/ids.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { RESOLUTION_CHARS_MAX } from '../../values/limits.ts'
import type { Mode } from '../../values/mode.ts'
import { Problem } from '../../values/problem.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { parseResolutionNote } from './resolution.ts'
import { findResolution, hasPurchase, markPurchaseResolved } from './resolutions-store.ts'

/**
 * Records that a member has dealt with a purchase that was paid and not delivered (D70a). It is then no longer among
 * those that need attention. Nothing else changes: the seller keeps the money, and a repeated request gets the same
 * response. Has no effect on a purchase that is resolved already.
 *
 * Errors: 400 for a note that is empty or too long; 404 if there is no such purchase; 409 if it was not paid, was
 * delivered, or may still be delivered.
 */
export async function resolvePurchase(
  ctx: Pick<Context, 'db' | 'clock'>,
  wanted: { workspaceId: string; mode: Mode; paymentId: string; note: string; actor: { kind: 'user'; id: string } },
): Promise<void> {
  const { workspaceId, mode, paymentId, actor } = wanted
  const note = checkNote(wanted.note)
  const place = { workspaceId, mode, paymentId }
  const resolvedAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const isKnown = isId('payment', paymentId) && (await transaction.run(hasPurchase(place)))
    if (!isKnown) throw new Problem('not_found', 'There is no purchase with this id in this workspace and mode.')
    const resolution = { resolvedAt, resolvedBy: actor.id, note }
    const [isMarked, known] = await transaction.batch([markPurchaseResolved(place, resolution), findResolution(place)])
    if (known === null) {
      throw new Problem('conflict', 'Only a purchase that was paid and not delivered can be marked as resolved.')
    }
    if (!isMarked) return
    const entry = { logId: workspaceId, createdAt: resolvedAt, actor, action: 'purchase.resolved' } as const
    await transaction.commit([insertAuditEntry({ ...entry, subject: paymentId, details: { mode, note } })])
  })
}

function checkNote(text: string): string {
  const note = parseResolutionNote(text)
  if (note === null) throw invalidMember('note', `must have 1 to ${RESOLUTION_CHARS_MAX} characters`)
  return note
}
