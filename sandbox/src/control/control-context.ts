import type { Context } from '../../../server/src/domain/context.ts'
import type { Addresses, Mode } from '../addresses.ts'
import type { Chain } from '../chain/start-chain.ts'
import type { StateFile } from '../state/sandbox-state.ts'
import type { EnclaveControl } from './enclave-control.ts'

/** What the control API has in its hands: the product's operations, the people's passkeys, the chains, the enclave's faults. */
export interface ControlContext {
  readonly context: Context
  readonly addresses: Addresses
  readonly state: StateFile
  readonly chains: Readonly<Record<Mode, ControlledChain>>
  readonly enclave: EnclaveControl
  /** Moves every clock of the sandbox. The offset is kept, and in force everywhere when this resolves. */
  setClockOffset(offsetMs: number): Promise<void>
}

export interface ControlledChain extends Chain {
  /** Whether blocks come by themselves. */
  readonly mining: boolean
}
