import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

/** A request for a payment: what its body says, and what its credential says about the caller. */
export interface PaymentRequest extends PaymentCredential {
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: AgentId
  readonly wallet: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** The amount as the caller wrote it. Responses repeat it unchanged (D19). */
  readonly amountUsdc: string
  readonly memo: string | null
  readonly idempotencyKey: string | null
}

/** Every door must say which credential asks, so that none can leave out what the credential may do. */
export interface PaymentCredential {
  /** The id of the API key or of the connection. */
  readonly credentialId: string | null
  /** The only agent that the credential may pay as; null if it may pay as any agent of the workspace (D25). */
  readonly boundAgentId: string | null
}

/**
 * Decides whether a credential may pay as this agent. A connection may pay only as the agent that the person chose at
 * consent; an API key may pay as any agent of its workspace (D25).
 */
export function mayPayAs({ boundAgentId }: Pick<PaymentCredential, 'boundAgentId'>, agentId: string): boolean {
  return boundAgentId === null || boundAgentId === agentId
}
