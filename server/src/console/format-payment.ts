import type { Credential } from '../domain/reports/timeline/credential.ts'
import { formatPayment } from '../domain/payments/format-payment.ts'
import type { Payment } from '../domain/payments/payment.ts'
import type { PaymentRefusal } from '../domain/payments/refusals/refusal.ts'
import type { PaymentRecord } from '../domain/reports/timeline/get-payment-record.ts'
import { formatAmount } from '../values/money.ts'
import { PROBLEM_CODES } from '../values/problem.ts'
import type { Payment as PaymentView, PaymentDetail } from './contract/payments.ts'
import type { Refusal } from './contract/refusals.ts'
import { formatDelivery } from './format-delivery.ts'

/** The payment of `/v1`, with what its owner may know beside it: the agent, the grant, and why it failed or is pending. */
export function formatPaymentRow(payment: Payment): PaymentView {
  return {
    ...formatPayment(payment),
    agent_id: payment.agentId,
    grant_id: payment.grantId,
    failure_code: payment.failureCode,
    pending_reason: payment.pendingReason,
  }
}

/** Everything we know about a payment, without its grant. */
export function formatPaymentRecord({
  payment,
  admission,
  credential,
  events,
}: PaymentRecord): Omit<PaymentDetail, 'grant'> {
  return {
    payment: {
      ...formatPaymentRow(payment),
      mode: payment.mode,
      accepted_at: payment.acceptedAt?.toISOString() ?? null,
      settled_at: payment.settledAt?.toISOString() ?? null,
      block_number: payment.minedBlock === null ? null : Number(payment.minedBlock),
      credential,
      limits: {
        max_per_tx_usdc: formatAmount(admission.maxPerTxMicro),
        daily_cap_usdc: formatAmount(admission.dailyCapMicro),
        spent_24h_usdc: formatAmount(admission.spent24hMicro),
      },
    },
    events: events.map((event) => ({
      id: event.id,
      type: event.type,
      created_at: event.createdAt.toISOString(),
      deliveries: event.deliveries.map(({ delivery, url }) => ({ ...formatDelivery(delivery), url })),
    })),
  }
}

export function formatRefusal(refusal: PaymentRefusal, credentials: ReadonlyMap<string, Credential>): Refusal {
  const [, message] = PROBLEM_CODES[refusal.code]
  return {
    id: refusal.id,
    mode: refusal.mode,
    code: refusal.code,
    message,
    details: refusal.details,
    agent_id: refusal.agentId,
    wallet: refusal.wallet,
    to: refusal.to,
    amount_usdc: refusal.amountUsdc,
    memo: refusal.memo,
    idempotency_key: refusal.idempotencyKey,
    credential: credentials.get(refusal.credentialId ?? '') ?? null,
    created_at: refusal.createdAt.toISOString(),
  }
}
