import type { PublicPayment } from './payment-schema.ts'
import type { Payment } from './payment.ts'

/** Formats a payment for everyone outside: `/v1`, events and the dashboard. */
export function formatPayment(payment: Payment): PublicPayment {
  return {
    id: payment.id,
    status: payment.status,
    tx_hash: payment.txHash,
    amount_usdc: payment.amountUsdc,
    to: payment.to,
    from: payment.walletAddress,
    memo: payment.memo,
    idempotency_key: payment.idempotencyKey,
    created_at: payment.createdAt.toISOString(),
  }
}
