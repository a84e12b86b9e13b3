import type { Payment } from '../payments/payment.ts'
import type { PaymentRequest } from './payment-request.ts'

/**
 * The fields of a request that can differ from an existing payment, as `/v1` names them and in the order of its body.
 * `kind` comes first, and is no field of the body. It differs if a purchase already has the transfer's idempotency key.
 */
export type RequestField = 'kind' | 'agent_id' | 'wallet' | 'to' | 'amount_usdc' | 'memo'

/** The fields of a request that is compared with a payment. A field that is missing or not valid is undefined. */
export type ComparedRequest = {
  readonly [Name in 'agentId' | 'wallet' | 'to' | 'amountMicro' | 'memo']: PaymentRequest[Name] | undefined
}

/**
 * Returns the fields in which a request differs from the existing payment with its idempotency key, in the order of the
 * request's body (D52). Values are compared, and not how the caller wrote them: the amount `1.0` equals `1`, and an
 * address in lower case equals the same address with its checksum. A field that is missing or not valid differs,
 * because the payment has a valid one. A request without a memo equals a payment without one.
 */
export function compareRequest(payment: Payment, request: ComparedRequest): RequestField[] {
  const isEqual: Readonly<Record<RequestField, boolean>> = {
    kind: payment.kind === 'transfer',
    agent_id: request.agentId === payment.agentId,
    wallet: request.wallet === payment.walletAddress,
    to: request.to === payment.to,
    amount_usdc: request.amountMicro === payment.amountMicro,
    memo: request.memo === payment.memo,
  }
  return FIELDS.filter((field) => !isEqual[field])
}

const FIELDS: readonly RequestField[] = ['kind', 'agent_id', 'wallet', 'to', 'amount_usdc', 'memo']
