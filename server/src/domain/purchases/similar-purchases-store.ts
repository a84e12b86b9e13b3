import { firstOrNull, type Query } from '../../db/query.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, toPayment } from '../payments/payments-store.ts'
import type { Payment } from '../payments/payment.ts'
import type { PurchaseTerms } from './purchase-request.ts'

/**
 * Finds the newest purchase since `from` for which the same agent sent the same request with another idempotency key.
 * Failed purchases are left out. Reads only the workspace's purchases since `from`, by
 * `purchases_by_time`. The condition on the agent is written so that the planner cannot read all payments of the agent.
 */
export function findSimilarPurchase(
  {
    workspaceId,
    mode,
    agentId,
    idempotencyKey,
  }: Pick<PurchaseTerms, 'workspaceId' | 'mode' | 'agentId' | 'idempotencyKey'>,
  { requestHash, from }: { readonly requestHash: Buffer; readonly from: Date },
): Query<Payment | null> {
  return {
    name: 'find_similar_purchase',
    text: `with recent as materialized (select payment_id from purchases
          where workspace_id = $1 and mode = $2 and created_at >= $3 and request_hash = $4)
      select p.* from recent cross join lateral (select ${PAYMENT_COLUMNS} from payments
          where workspace_id = $1 and id = recent.payment_id and agent_id || '' = $5 and status <> 'failed'
            and idempotency_key is distinct from $6 offset 0) p
      order by p.id desc limit 1`,
    values: [workspaceId, mode, from, requestHash, agentId, idempotencyKey],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}
