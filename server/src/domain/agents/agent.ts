import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { AgentState } from './agent-state.ts'

/**
 * A wallet from which an agent can currently spend, with the limits of the agent's grant. An agent has one
 * `SpendableWallet` for each of its grants that is active, unexpired and not suspended (D9).
 */
export interface SpendableWallet {
  readonly address: Address
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly spent24hMicro: MicroUsdc
  readonly expiresAt: Date | null
}

/** A grant under which an agent can currently spend. */
export interface SpendableGrant {
  readonly agentId: string
  readonly address: Address
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
}

/** An agent: a named identity in one workspace and mode. `wallets` are those from which it can currently spend. */
export interface Agent {
  readonly id: string
  readonly mode: Mode
  readonly createdAt: Date
  /** What people call the agent, beside its id. */
  readonly label: string | null
  readonly state: AgentState
  readonly activeSigners: number
  readonly pendingSigners: number
  readonly wallets: readonly SpendableWallet[]
}
