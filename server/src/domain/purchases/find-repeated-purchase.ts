import type { Context } from '../context.ts'
import type { Payment } from '../payments/payment.ts'
import { combineHashes, hashRequest, type PurchaseTerms, type AgentRequest } from './purchase-request.ts'
import { findSimilarPurchase } from './similar-purchases-store.ts'

/** The same request within this time is likely to be the same purchase (D72). */
const SIMILAR_WINDOW_MS = 10 * 60 * 1_000

/**
 * Returns the payment of a purchase that a request probably repeats: the same agent sent the same request with another
 * idempotency key, at most ten minutes ago. Null if there is none. This check protects from a mistake, and is not a
 * limit.
 */
export async function findRepeatedPurchase(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  terms: Pick<PurchaseTerms, 'workspaceId' | 'mode' | 'agentId' | 'idempotencyKey'>,
  request: AgentRequest,
): Promise<Payment | null> {
  const from = new Date(clock.now().getTime() - SIMILAR_WINDOW_MS)
  return await db.read(findSimilarPurchase(terms, { requestHash: combineHashes(hashRequest(request)), from }))
}
