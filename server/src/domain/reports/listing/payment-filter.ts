import { parseAddress, type Address } from '../../../values/address.ts'
import { isId } from '../../../values/ids.ts'
import type { PaymentKind, PaymentStatus, TxHash } from '../../payments/payment.ts'

/** A kind of payment, or `undelivered`: the purchases that were paid and not delivered (D70a). */
export type PaymentKindFilter = PaymentKind | 'undelivered'

/** The conditions for the payments in a list. A missing field sets no condition. */
export interface PaymentFilter {
  readonly agentId?: string | undefined
  readonly wallet?: Address | undefined
  readonly status?: PaymentStatus | undefined
  readonly kind?: PaymentKindFilter | undefined
  /** Only payments that were created at this time or later. */
  readonly from?: Date | undefined
  /** Only payments that were created before this time. */
  readonly to?: Date | undefined
  /** A text that a user typed. `parseSearch` decides what it means. */
  readonly search?: string | undefined
}

export type PaymentSearch =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'txHash'; readonly txHash: TxHash }
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'text'; readonly text: string }

const TX_HASH_PATTERN = /^0x[0-9a-f]{64}$/i

/**
 * Decides what a search text means: a payment's id, a transaction's hash, or an address that payments went to or came
 * from. Hashes and addresses may be in upper or lower case. Any other text is first taken for an idempotency key. If no
 * payment has this key, the text is searched for in memos, and in the hosts of what purchases buy.
 */
export function parseSearch(text: string): PaymentSearch {
  if (isId('payment', text)) return { kind: 'id', id: text }
  if (TX_HASH_PATTERN.test(text)) return { kind: 'txHash', txHash: text.toLowerCase() as TxHash }
  const address = parseAddress(text.toLowerCase())
  return address === null ? { kind: 'text', text } : { kind: 'address', address }
}
