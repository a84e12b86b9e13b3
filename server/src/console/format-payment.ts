import type { Credential } from '../domain/reports/timeline/credential.ts'
import { formatPurchaseSummary, type ListedPayment } from '../domain/purchases/purchase-summary.ts'
import { formatPurchase } from '../domain/purchases/format-purchase.ts'
import { formatPaymentOfAnyKind } from '../domain/payments/format-payment.ts'
import type { Admission, Payment } from '../domain/payments/payment.ts'
import type { ListedRefusal, PaymentRefusal } from '../domain/refusals/refusal.ts'
import type { PaymentRecord } from '../domain/reports/timeline/get-payment-record.ts'
import type { ListSums } from '../domain/reports/listing/count-payments.ts'
import { timeOfId } from '../values/ids.ts'
import { formatAmount } from '../values/money.ts'
import { PROBLEM_CODES } from '../values/problem.ts'
import type {
  ListedPayment as ListedPaymentView,
  Payment as PaymentView,
  PaymentDetail,
  PaymentSums,
} from './contract/payments.ts'
import type { ListedRefusal as ListedRefusalView, RefusedRequest } from './contract/refusals.ts'
import { formatDelivery } from './format-delivery.ts'

/** Formats a payment as `/v1` does, with the reason why it is still pending, which only members see. */
export function formatPaymentRow(payment: Payment): PaymentView {
  return { ...formatPaymentOfAnyKind(payment), pending_reason: payment.pendingReason }
}

/** Formats a payment in a list, with what it buys. */
export function formatListedPayment(payment: ListedPayment): ListedPaymentView {
  const { purchase } = payment
  return { ...formatPaymentRow(payment), purchase: purchase === null ? null : formatPurchaseSummary(purchase) }
}

export function formatListSums({
  confirmed,
  confirmedMicro,
  pending,
  pendingMicro,
  failed,
  since,
}: ListSums): PaymentSums {
  return {
    confirmed,
    confirmed_usdc: formatAmount(confirmedMicro),
    pending,
    pending_usdc: formatAmount(pendingMicro),
    failed,
    since: since === null ? null : timeOfId('payment', since).toISOString(),
  }
}

/** Formats everything that we have stored about a payment, without its grant. */
export function formatPaymentRecord({
  payment,
  admission,
  credential,
  signer,
  resolution,
  purchase,
  note,
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
      signed_by: signer === null ? null : { name: signer.name, former: !signer.isMember },
      limits: admission === null ? null : formatAdmission(admission),
    },
    resolution:
      resolution === null
        ? null
        : { at: resolution.resolvedAt.toISOString(), by: resolution.resolvedByName, note: resolution.note },
    purchase: purchase === null ? null : { ...formatPurchase(purchase), attempts: purchase.attempts },
    note,
    events: events.map((event) => ({
      id: event.id,
      type: event.type,
      created_at: event.createdAt.toISOString(),
      deliveries: event.deliveries.map(({ delivery, url }) => ({ ...formatDelivery(delivery), url })),
    })),
  }
}

function formatAdmission({ maxPerTxMicro, dailyCapMicro, spent24hMicro }: Admission) {
  return {
    max_per_tx_usdc: formatAmount(maxPerTxMicro),
    daily_cap_usdc: formatAmount(dailyCapMicro),
    spent_24h_usdc: formatAmount(spent24hMicro),
  }
}

export function formatRefusal(refusal: PaymentRefusal, credentials: ReadonlyMap<string, Credential>): RefusedRequest {
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
    resource_url: refusal.resourceUrl,
    credential: credentials.get(refusal.credentialId ?? '') ?? null,
    created_at: refusal.createdAt.toISOString(),
  }
}

export function formatListedRefusal(
  refusal: ListedRefusal,
  credentials: ReadonlyMap<string, Credential>,
): ListedRefusalView {
  const { times, firstAt } = refusal
  return { ...formatRefusal(refusal, credentials), times, first_at: firstAt.toISOString() }
}
