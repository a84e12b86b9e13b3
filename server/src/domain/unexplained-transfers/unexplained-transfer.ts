import type { Hash } from 'viem'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

/**
 * A USDC transfer out of one of our wallets that no payment explains. There are two causes. The database was restored
 * from a backup, and has forgotten the payment. Or the wallet's key was used without this service.
 *
 * Until a payment is recorded for it, the transfer counts towards the 24-hour limit of every grant of its wallet.
 */
export interface UnexplainedTransfer {
  readonly workspaceId: string
  readonly mode: Mode
  readonly txHash: Hash
  /** The position of the Transfer log in its block. */
  readonly logIndex: bigint
  readonly wallet: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** The nonce of the EIP-3009 authorization that made the transfer. Null for a plain transfer. */
  readonly nonce: Hash | null
  readonly blockNumber: bigint
  /** The time of the block. */
  readonly minedAt: Date
  readonly foundAt: Date
}

/**
 * For this long after an unexplained transfer, a payment with an idempotency key is first looked up at the provider. A
 * request is hardly repeated later.
 */
export const LOOKED_UP_DAYS = 30
/**
 * An authorization that was signed before the database was restored can be used for at most this long: five minutes
 * (`payments_authorization_check`), and a margin for the clocks.
 */
export const LOST_AUTHORIZATION_MS = 305_000
