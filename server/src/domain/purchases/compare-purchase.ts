import type { Payment } from '../payments/payment.ts'
import type { PurchaseTerms, RequestHashes } from './purchase-request.ts'
import type { PurchaseOrder } from './seal-purchase.ts'

/** The fields of a request that can differ from an existing purchase, in the order of the request's body. */
export type PurchaseField =
  | 'kind'
  | 'url'
  | 'method'
  | 'headers'
  | 'body'
  | 'payment_required'
  | 'resource_url'
  | 'agent_id'
  | 'wallet'
  | 'max_amount_usdc'
  | 'memo'

/** The parts of a request that are compared. A part that is missing or not valid is undefined. */
export interface ComparedPurchase extends Partial<
  Pick<PurchaseTerms, 'agentId' | 'wallet' | 'maxAmountMicro' | 'memo'>
> {
  /** Null if the agent fetches the resource itself. */
  readonly request: RequestHashes | null
  readonly resourceUrl?: string
  readonly termsHash?: string
}

/**
 * Returns the fields in which a request differs from the existing payment with its idempotency key. `kind` is not a
 * field of the body. It differs if the payment is a transfer, or if the request and the purchase belong to different
 * operations (`payForResource` and `signForResource`). If the payment was recovered (D96) and paid something else than
 * the offer that its request got, the request is for another purchase, so what names the resource differs. If the order
 * of a purchase is lost, only the fields of the payment are compared.
 */
export function comparePurchase(
  { payment, order }: { readonly payment: Payment; readonly order: PurchaseOrder | null },
  compared: ComparedPurchase,
): PurchaseField[] {
  const { request } = compared
  const shared: PurchaseField[] = [
    ...(compared.agentId === payment.agentId ? [] : (['agent_id'] as const)),
    ...(compared.wallet === payment.walletAddress ? [] : (['wallet'] as const)),
    ...(order === null || compared.maxAmountMicro === order.maxAmountMicro ? [] : (['max_amount_usdc'] as const)),
    ...(compared.memo === payment.memo ? [] : (['memo'] as const)),
  ]
  if (order === null && payment.kind === 'x402') return shared
  if (order === null || (order.request === null) !== (request === null)) return ['kind', ...shared]
  const { request: known, offer } = order
  const isAnother = payment.to !== offer.payTo || payment.amountMicro !== offer.amountMicro
  if (request === null || known === null) {
    return [
      ...(compared.termsHash === order.termsHash && !isAnother ? [] : (['payment_required'] as const)),
      ...(compared.resourceUrl === order.url ? [] : (['resource_url'] as const)),
      ...shared,
    ]
  }
  const parts = ['url', 'method', 'headers', 'body'] as const
  return [...parts.filter((part) => known[part] !== request[part] || (part === 'url' && isAnother)), ...shared]
}

/** The fields that decide what is sent. A request that differs in one of them does not continue the purchase. */
const SENT: readonly PurchaseField[] = ['kind', 'url', 'method', 'headers', 'body', 'payment_required', 'resource_url']

/** Returns whether a request that differs in these fields still means the same purchase. */
export function isSamePurchase(mismatches: readonly PurchaseField[]): boolean {
  return !mismatches.some((field) => SENT.includes(field))
}
