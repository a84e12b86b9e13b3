import type { Context } from '../../../server/src/domain/context.ts'
import type { Addresses, Mode } from '../addresses.ts'
import type { Chain } from '../chain/start-chain.ts'
import type { StateFile } from '../state/sandbox-state.ts'
import type { EnclaveControl } from './enclave-control.ts'
import type { SellerControl } from './seller-control.ts'

/**
 * Everything that the control API's routes use: the server's own operations, the owners' passkeys, the chains, and the
 * control endpoints of the enclave and the seller.
 */
export interface ControlContext {
  readonly context: Context
  readonly addresses: Addresses
  readonly state: StateFile
  readonly chains: Readonly<Record<Mode, ControlledChain>>
  readonly enclave: EnclaveControl
  readonly seller: SellerControl
  /**
   * Sets the clock offset of every process in the sandbox, and stores it. The promise resolves once the offset is in
   * effect everywhere.
   */
  setClockOffset(offsetMs: number): Promise<void>
}

export interface ControlledChain extends Chain {
  /** Whether the chain mines blocks automatically. */
  readonly mining: boolean
}
