import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import type { ProblemCode } from '../../../values/problem.ts'

/**
 * A request that a limit refused before anything was reserved. It is not a payment, and no limit counts it. It is stored
 * so that an owner can see what was requested, and why it was refused.
 */
export interface PaymentRefusal {
  readonly accountId: string
  readonly id: string
  readonly mode: Mode
  /** The API key or the connection that made the request. */
  readonly credentialId: string | null
  /** As requested. There may be no such agent or wallet. */
  readonly agentId: string
  readonly wallet: Address
  readonly to: Address
  readonly amountUsdc: string
  readonly memo: string | null
  readonly idempotencyKey: string | null
  /** The code and details of the response: the limit, and its state at that time. */
  readonly code: ProblemCode
  readonly details: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

/** How long a refusal is kept, and how many of the newest ones for each account and mode. An agent in a loop makes 30 a minute. */
export const REFUSAL_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000
export const REFUSALS_KEPT_MAX = 10_000
