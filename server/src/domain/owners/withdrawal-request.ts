import type { Address } from '../../values/address.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { StoredRequest } from './owner-request.ts'

/** A withdrawal that an owner is asked to sign (D62). */
export interface WithdrawalRequest extends StoredRequest {
  /**
   * The id that the payment will have. It is part of what the owner signs, so the request can become only one payment.
   */
  readonly paymentId: string
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** The amount as the caller wrote it. */
  readonly amountUsdc: string
  /** Whether the provider pays the gas. It is part of what the owner signs. */
  readonly sponsored: boolean
  /** When the signed request expires, by the enclave's clock. */
  readonly requestExpiresAt: Date
}
