import type { Context } from '../context.ts'
import { findSimilarPayment, findSimilarPending } from './earlier-payments-store.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentRequest } from './payment-request.ts'
import { findPaymentByKey } from '../payments/payments-store.ts'

/** A payment of the same amount to the same recipient within this time is likely to be for the same purchase (D72). */
const SIMILAR_WINDOW_MS = 10 * 60 * 1_000

export interface EarlierPayments {
  /** The payment with the request's idempotency key, of any agent of the workspace. */
  readonly sameKey: Payment | null
  /**
   * The newest payment that is probably for the same purchase. It is at most ten minutes old or still pending: an old
   * pending payment may still be paid.
   */
  readonly similar: Payment | null
}

/**
 * Returns the earlier payments that a request possibly repeats. A program that retries sends the same idempotency key.
 * A model sometimes chooses a new key, so the second search compares the purchase itself: agent, recipient and amount.
 */
export async function findEarlierPayments(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: Pick<PaymentRequest, 'workspaceId' | 'mode' | 'agentId' | 'to' | 'amountMicro' | 'idempotencyKey'>,
): Promise<EarlierPayments> {
  const { workspaceId, mode, idempotencyKey } = request
  const from = new Date(ctx.clock.now().getTime() - SIMILAR_WINDOW_MS)
  const [sameKey, pending, recent] = await Promise.all([
    ctx.db.read(findPaymentByKey(workspaceId, mode, idempotencyKey)),
    ctx.db.read(findSimilarPending(request)),
    ctx.db.read(findSimilarPayment(request, from)),
  ])
  return { sameKey, similar: newestOf(pending, recent) }
}

function newestOf(one: Payment | null, other: Payment | null): Payment | null {
  if (one === null || other === null) return one ?? other
  return one.createdAt < other.createdAt ? other : one
}
