import { parseAddress, type Address } from '../../../values/address.ts'
import { isId } from '../../../values/ids.ts'
import type { PaymentStatus, TxHash } from '../../payments/payment.ts'

/** What a list of payments is narrowed to; what is not named is not looked at. */
export interface PaymentFilter {
  readonly agentId?: string | undefined
  readonly wallet?: Address | undefined
  readonly status?: PaymentStatus | undefined
  /** Made at this time or later. */
  readonly from?: Date | undefined
  /** Made before this time. */
  readonly to?: Date | undefined
  /** What somebody typed, see `parseSearch`. */
  readonly search?: string | undefined
}

export type Search =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'txHash'; readonly txHash: TxHash }
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'text'; readonly text: string }

const TX_HASH_PATTERN = /^0x[0-9a-f]{64}$/i

/**
 * What is searched for: a payment by its id, a transaction by its hash, payments to or from an address, however they are
 * written; any other text is an idempotency key, or else a part of a memo.
 */
export function parseSearch(text: string): Search {
  if (isId('payment', text)) return { kind: 'id', id: text }
  if (TX_HASH_PATTERN.test(text)) return { kind: 'txHash', txHash: text.toLowerCase() as TxHash }
  const address = parseAddress(text.toLowerCase())
  return address === null ? { kind: 'text', text } : { kind: 'address', address }
}
