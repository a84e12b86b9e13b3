import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

/**
 * A withdrawal that an owner is asked to sign (D62). It is stored, so that the signature can be checked against the
 * exact request. The signature itself is never stored.
 */
export interface WithdrawalRequest {
  readonly accountId: string
  readonly id: string
  readonly mode: Mode
  readonly walletAddress: Address
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
  /** When the signed request expires, by our clock. */
  readonly expiresAt: Date
  readonly createdAt: Date
  /** The user who prepared the withdrawal. Null if it was the operator. */
  readonly createdBy: string | null
  /** Whether somebody has submitted the owner's signature. */
  readonly isSubmitted: boolean
}
