import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { drivePayment } from './drive-payment.ts'
import { onRecord } from './on-record.ts'
import type { Payment } from './payment.ts'
import { findPaymentByKey } from './store.ts'

/** The payment that an idempotency key has already, driven on where its outcome is open (D21, D23); else null. */
export async function replayPayment(
  ctx: Context,
  { accountId, mode, idempotencyKey }: { accountId: string; mode: Mode; idempotencyKey: string },
): Promise<Payment | null> {
  const payment = await ctx.db.read(findPaymentByKey(accountId, mode, idempotencyKey))
  return payment === null ? null : await onRecord(drivePayment(ctx, payment))
}
