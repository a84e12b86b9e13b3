import type { Mode } from '../../values/mode.ts'
import type { PurchaseProtocol } from '../../x402/payment-required.ts'

/**
 * Whether the seller gave what was bought. It says nothing about the money, which only the chain decides (D66):
 * - `delivered`: the seller's answer to the request that pays was a success, and arrived up to the length that is kept.
 * - `failed`: any other answer arrived.
 * - `unknown`: no answer has arrived, or only a part of one. The seller can be asked again with the same header.
 */
export const DELIVERIES = ['delivered', 'failed', 'unknown'] as const

export type GoodsDelivery = (typeof DELIVERIES)[number]

/** What a payment of kind `x402` buys. The money is in the payment with the same id. */
export interface Purchase {
  readonly workspaceId: string
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
  readonly delivery: GoodsDelivery | null
  /** How often the request that pays was sent. */
  readonly attempts: number
  /**
   * The status of the answer, or of the part of one that arrived. Null if there is none. The status itself may be any
   * number that HTTP allows, and is null if the database did not accept it.
   */
  readonly responseStatus: number | null
  readonly respondedAt: Date | null
  readonly createdAt: Date
}

/** Returns whether the seller has answered, so that it is not asked again. */
export function isAnswered({ delivery, respondedAt }: Pick<Purchase, 'delivery' | 'respondedAt'>): boolean {
  return respondedAt !== null && delivery !== 'unknown'
}
