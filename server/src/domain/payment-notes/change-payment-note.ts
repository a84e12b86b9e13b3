import type { Mode } from '../../values/mode.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { getPayment } from '../payments/get-payment.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { isEmptyNote, NO_NOTE, type PaymentNote } from './payment-note.ts'
import { deletePaymentNote, findPaymentNote, storePaymentNote } from './payment-notes-store.ts'

const FIELDS = ['note', 'category', 'link'] as const

/**
 * Changes the note of a payment, and records in the audit log what it was before. A note without content is deleted.
 *
 * Errors: 404 `payment_not_found`.
 */
export async function changePaymentNote(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    workspaceId,
    mode,
    paymentId,
    note,
    actor,
  }: { workspaceId: string; mode: Mode; paymentId: string; note: PaymentNote; actor: Actor },
): Promise<PaymentNote> {
  await getPayment(ctx, { workspaceId, mode, id: paymentId })
  return await ctx.db.transaction(async (transaction) => {
    // Two people who change a note at the same time do it one after the other, so the log has what was there before.
    const [, found] = await transaction.batch([lockWorkspace(workspaceId), findPaymentNote(workspaceId, paymentId)])
    const before = found ?? NO_NOTE
    const fields = FIELDS.filter((field) => note[field] !== before[field])
    if (fields.length === 0) return note
    const now = ctx.clock.now()
    const changes = fields.flatMap((field): [string, string | null][] => [
      [field, note[field]],
      [`${field}_before`, before[field]],
    ])
    const details = { mode, ...Object.fromEntries(changes) }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'payment.noted', details } as const
    const change = isEmptyNote(note)
      ? deletePaymentNote(workspaceId, paymentId)
      : storePaymentNote({ workspaceId, mode, paymentId }, note, now)
    await transaction.commit([change, insertAuditEntry({ ...entry, subject: paymentId })])
    return note
  })
}
