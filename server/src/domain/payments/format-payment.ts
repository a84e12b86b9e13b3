import type { Payment } from './payment.ts'

/** A payment as the world sees it (specification, part 2). */
export function formatPayment(payment: Payment) {
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
