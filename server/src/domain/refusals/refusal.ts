import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { ProblemCode } from '../../values/problem.ts'

/**
 * A request for a payment that was refused by a limit before anything was reserved. It is not a payment, and does not
 * count against any limit. It is stored so that members of the workspace can see what was requested, and why it was
 * refused.
 */
export interface PaymentRefusal {
  readonly workspaceId: string
  readonly id: string
  readonly mode: Mode
  /** The id of the API key or OAuth connection that made the request. */
  readonly credentialId: string | null
  /** The agent and the wallet as the request named them. They may not exist. */
  readonly agentId: string
  readonly wallet: Address
  readonly to: Address
  readonly amountUsdc: string
  readonly memo: string | null
  readonly idempotencyKey: string | null
  /**
   * The URL of what the request would have bought, without its query, which may hold secrets. Null if it was no
   * purchase.
   */
  readonly resourceUrl: string | null
  /** The code and details of the response. The details show the limit, and how much of it was used at that time. */
  readonly code: ProblemCode
  readonly details: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

/** The newest of some identical refusals: the same agent, wallet, recipient, amount, resource and code. */
export interface ListedRefusal extends PaymentRefusal {
  /** How many identical refusals there are, and when the first of them happened. */
  readonly times: number
  readonly firstAt: Date
}

/** The conditions for the refusals in a list. A missing field sets no condition. */
export interface RefusalFilter {
  readonly agentId?: string | undefined
  readonly wallet?: Address | undefined
  readonly recipient?: Address | undefined
  readonly code?: string | undefined
  readonly minMicro?: MicroUsdc | undefined
  readonly maxMicro?: MicroUsdc | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** A text that a user typed. `parseSearch` decides what it means. */
  readonly search?: string | undefined
}

/** The part of a refusal that comes from the request itself. */
export type RefusedRequest = Omit<PaymentRefusal, 'id' | 'code' | 'details' | 'createdAt'>

/** How long a refusal is kept. */
export const REFUSAL_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000
/**
 * How many refusals are kept for each workspace and mode; the oldest are deleted first. Because of the rate limit, an
 * agent that retries in a loop causes 30 refusals a minute.
 */
export const REFUSALS_KEPT_MAX = 10_000
