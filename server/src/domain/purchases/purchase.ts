import type { Mode } from '../../values/mode.ts'
import type { PurchaseProtocol } from '../../x402/payment-required.ts'

/**
 * Whether the seller gave what was bought. It says nothing about the money, which only the chain decides (D66):
 * - `delivered`: the seller's answer to the request that pays was a success.
 * - `failed`: the seller responded with anything else.
 * - `unknown`: no response has arrived.
 */
export const DELIVERIES = ['delivered', 'failed', 'unknown'] as const

export type Delivery = (typeof DELIVERIES)[number]

/** What a payment of kind `x402` buys. The money is in the payment with the same id. */
export interface Purchase {
  readonly accountId: string
  readonly mode: Mode
  readonly paymentId: string
  readonly protocol: PurchaseProtocol
  /** Without query and fragment, which may hold secrets. */
  readonly resourceUrl: string
  readonly host: string
  readonly method: string
  /** The seller's own words. Untrusted. */
  readonly description: string | null
  /** Null if the agent fetches the resource itself. */
  readonly delivery: Delivery | null
  /** How often the request that pays was sent. */
  readonly attempts: number
  readonly responseStatus: number | null
  readonly respondedAt: Date | null
  readonly createdAt: Date
}
