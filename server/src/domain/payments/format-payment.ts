import type { PublicPayment } from './payment-schema.ts'
import type { Payment } from './payment.ts'

/**
 * Formats an agent's payment for responses of `/v1` and for events (D52). Throws if the payment is a withdrawal,
 * because agents cannot read withdrawals (D62).
 */
export function formatPayment(payment: Payment): PublicPayment {
  if (payment.kind === 'withdrawal') throw new Error('a withdrawal is not shown in /v1 or in events')
  const { kind, agentId, grantId } = payment
  return { ...formatPaymentOfAnyKind(payment), kind, agent_id: agentId, grant_id: grantId }
}

/** Formats a payment for the dashboard. A withdrawal has no agent and no grant. */
export function formatPaymentOfAnyKind(payment: Payment) {
  return {
    id: payment.id,
    kind: payment.kind,
    agent_id: payment.agentId,
    grant_id: payment.grantId,
    status: payment.status,
    failure_code: payment.failureCode,
    tx_hash: payment.txHash,
    amount_usdc: payment.amountUsdc,
    to: payment.to,
    from: payment.walletAddress,
    memo: payment.memo,
    idempotency_key: payment.idempotencyKey,
    request_id: payment.requestId,
    created_at: payment.createdAt.toISOString(),
    confirmed_at: payment.status === 'confirmed' ? (payment.settledAt?.toISOString() ?? null) : null,
  }
}
