import { parseAddress, type Address } from '../../../values/address.ts'
import { isId } from '../../../values/ids.ts'
import type { PaymentStatus, TxHash } from '../../payments/payment.ts'

/** Which payments a list contains. A missing member does not filter. */
export interface PaymentFilter {
  readonly agentId?: string | undefined
  readonly wallet?: Address | undefined
  readonly status?: PaymentStatus | undefined
  /** Created at this time or later. */
  readonly from?: Date | undefined
  /** Created before this time. */
  readonly to?: Date | undefined
  /** The text that a user typed, see `parseSearch`. */
  readonly search?: string | undefined
}

export type Search =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'txHash'; readonly txHash: TxHash }
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'text'; readonly text: string }

const TX_HASH_PATTERN = /^0x[0-9a-f]{64}$/i

/**
 * Decides what a text searches for: a payment by its id, a transaction by its hash, or payments to or from an address, in
 * upper or lower case. Any other text is an idempotency key, or else part of a memo.
 */
export function parseSearch(text: string): Search {
  if (isId('payment', text)) return { kind: 'id', id: text }
  if (TX_HASH_PATTERN.test(text)) return { kind: 'txHash', txHash: text.toLowerCase() as TxHash }
  const address = parseAddress(text.toLowerCase())
  return address === null ? { kind: 'text', text } : { kind: 'address', address }
}
