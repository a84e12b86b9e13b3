import { firstOrNull, type Query } from '../../db/query.ts'
import { idBoundary } from '../../values/ids.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, toPayment } from '../payments/payments-store.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentRequest } from './payment-request.ts'

type SimilarRequest = Pick<PaymentRequest, 'workspaceId' | 'mode' | 'agentId' | 'to' | 'amountMicro' | 'idempotencyKey'>

/**
 * Finds the newest payment since `from` that pays the same amount to the same recipient for the same agent, from any of
 * its wallets, and has another idempotency key. Failed payments are left out. Reads only payments since `from`, by
 * `payments_of_agent` or `payments_listed`.
 */
export function findSimilarPayment(request: SimilarRequest, from: Date): Query<Payment | null> {
  const { workspaceId, mode, agentId, to, amountMicro, idempotencyKey } = request
  return {
    name: 'find_similar_payment',
    text: `select ${PAYMENT_COLUMNS} from payments
      where workspace_id = $1 and mode = $2 and agent_id = $3 and id >= $4 and kind = 'transfer'
        and to_address = $5 and amount_micro = $6 and status <> 'failed' and ($7::text is null or idempotency_key is distinct from $7)
      order by id desc limit 1`,
    values: [workspaceId, mode, agentId, idBoundary('payment', from), to, amountMicro, idempotencyKey],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/**
 * Finds the newest payment of any age that is still pending and is otherwise as in `findSimilarPayment`. Reads only the
 * workspace's own pending payments. Uses the index `payments_holding_balance`. The condition on the agent is written so
 * that the planner cannot read all payments of the agent instead.
 */
export function findSimilarPending(request: SimilarRequest): Query<Payment | null> {
  const { workspaceId, mode, agentId, to, amountMicro, idempotencyKey } = request
  return {
    name: 'find_similar_pending',
    text: `select ${PAYMENT_COLUMNS} from payments
      where workspace_id = $1 and mode = $2 and settled_at is null and agent_id || '' = $3 and kind = 'transfer'
        and to_address = $4 and amount_micro = $5 and ($6::text is null or idempotency_key is distinct from $6)
      order by created_at desc, id desc limit 1`,
    values: [workspaceId, mode, agentId, to, amountMicro, idempotencyKey],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}
