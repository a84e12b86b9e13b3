import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import type { ProblemCode } from '../../../values/problem.ts'

/**
 * A request that the pre-check refused. It is no payment (specification, part 4, rule 1): nothing was reserved, and
 * nothing is decided by it. It is kept so that an owner can see what was asked for, and why it was refused.
 */
export interface PaymentRefusal {
  readonly accountId: string
  readonly id: string
  readonly mode: Mode
  /** The API key or the connection that asked. */
  readonly credentialId: string | null
  /** As they were asked for: no such agent or wallet need be there. */
  readonly agentId: string
  readonly wallet: Address
  readonly to: Address
  readonly amountUsdc: string
  readonly memo: string | null
  readonly idempotencyKey: string | null
  /** The code and the details of the answer: the limit, and how it stood then. */
  readonly code: ProblemCode
  readonly details: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

/** How long a refusal is kept, and how many of (account, mode): the newest. A busy agent in a loop makes 30 a minute. */
export const REFUSAL_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000
export const REFUSALS_KEPT_MAX = 10_000
