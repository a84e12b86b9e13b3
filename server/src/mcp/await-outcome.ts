import { DatabaseUnavailable } from '../db/errors.ts'
import type { Context } from '../domain/context.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { waitForPayment } from '../domain/reconciliation/wait-for-payment.ts'
import type { ToolCall } from './tool.ts'

/**
 * Waits until a payment is confirmed or failed, but not longer than the call asks for and its time limit allows.
 * Returns the payment as it is then. If the database cannot be reached while we wait, returns the payment as it was
 * recorded: an error would say that the call did nothing, although it has made the payment.
 */
export async function awaitOutcome(
  ctx: Context,
  payment: Payment,
  { args, signal, onWait }: Pick<ToolCall<{ readonly wait_seconds?: number }>, 'args' | 'signal' | 'onWait'>,
): Promise<Payment> {
  const waitMs = (args.wait_seconds ?? 0) * 1_000
  if (waitMs === 0 || payment.status !== 'pending') return payment
  const { accountId, mode, id } = payment
  try {
    return await waitForPayment(ctx, { accountId, mode, id, ofAgents: true, waitMs, signal, onWait })
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error
    ctx.logger.warn({ err: error, payment: id }, 'a call could not wait for its payment')
    return payment
  }
}
