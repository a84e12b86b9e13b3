import type { ChainNode } from './chain-node.ts'
import type { EnclaveClock } from './clock.ts'
import type { Delegations } from './delegations.ts'
import { invalidData } from './errors.ts'
import type { Faults } from './faults.ts'
import type { KeyVault } from './key-vault.ts'
import type { NonceLanes } from './nonce-lanes.ts'
import type { Pace } from './pace.ts'
import type { ReadLag } from './read-lag.ts'
import type { References } from './references.ts'
import type { Store } from './store.ts'
import type { Wakeup } from './wakeup.ts'

/** Everything that the enclave's functions share. */
export interface EnclaveContext {
  readonly store: Store
  readonly vault: KeyVault
  readonly clock: EnclaveClock
  readonly chains: ReadonlyMap<string, ChainNode>
  readonly lanes: NonceLanes
  readonly delegations: Delegations
  /** Wakes up the bundler of a chain, by CAIP-2 chain id. */
  readonly wakeups: ReadonlyMap<string, Wakeup>
  readonly pace: Pace
  readonly faults: Faults
  readonly readLag: ReadLag
  readonly references: References
}

export function getChain(context: Pick<EnclaveContext, 'chains'>, caip2: string): ChainNode {
  const chain = context.chains.get(caip2)
  if (chain === undefined) throw invalidData(`Unsupported chain: ${caip2}`)
  return chain
}
