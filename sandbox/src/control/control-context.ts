import type { Context } from '../../../server/src/domain/context.ts'
import type { Addresses, Mode } from '../addresses.ts'
import type { Chain } from '../chain/start-chain.ts'
import type { StateFile } from '../state/sandbox-state.ts'
import type { EnclaveControl } from './enclave-control.ts'

/**
 * What the routes of the control API work with: the server's own operations, the owners' passkeys, the chains, and the
 * enclave's faults.
 */
export interface ControlContext {
  readonly context: Context
  readonly addresses: Addresses
  readonly state: StateFile
  readonly chains: Readonly<Record<Mode, ControlledChain>>
  readonly enclave: EnclaveControl
  /**
   * Sets the clock offset of every process in the sandbox. It is stored, and in effect everywhere when the promise
   * resolves.
   */
  setClockOffset(offsetMs: number): Promise<void>
}

export interface ControlledChain extends Chain {
  /** Whether blocks are mined automatically. */
  readonly mining: boolean
}
