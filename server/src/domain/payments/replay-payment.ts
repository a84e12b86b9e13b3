import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { resumePayment } from './resume-payment.ts'
import { withRecordedOutcome } from './with-recorded-outcome.ts'
import type { Payment } from './payment.ts'
import { findPaymentByKey } from './payments-store.ts'

/**
 * The payment that an idempotency key has already, driven on where its outcome is open (D21, D23); else null.
 * `boundTo`: see `driveKnown`.
 */
export async function replayPayment(
  ctx: Context,
  {
    accountId,
    mode,
    idempotencyKey,
    boundTo,
  }: { accountId: string; mode: Mode; idempotencyKey: string; boundTo: string | null },
): Promise<Payment | null> {
  const payment = await ctx.db.runRelaxed(findPaymentByKey(accountId, mode, idempotencyKey))
  return payment === null ? null : await driveKnown(ctx, { payment, boundTo })
}

/**
 * Drives a known payment on, for whoever may pay as its agent. A credential that is bound to another agent sees the
 * record as it stands: it may read it, but must not cause a signature (D25).
 */
export async function driveKnown(
  ctx: Context,
  { payment, boundTo }: { payment: Payment; boundTo: string | null },
): Promise<Payment> {
  if (boundTo !== null && boundTo !== payment.agentId) return payment
  return await withRecordedOutcome(resumePayment(ctx, payment))
}
