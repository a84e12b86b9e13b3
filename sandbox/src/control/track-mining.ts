import type { Chain } from '../chain/start-chain.ts'
import type { ControlledChain } from './control-context.ts'

/** Returns the chain with a record of whether it mines blocks automatically. */
export function trackMining(chain: Chain): ControlledChain {
  let mining = true
  return {
    ...chain,
    get mining() {
      return mining
    },
    setMining: (enabled) => {
      chain.setMining(enabled)
      mining = enabled
    },
  }
}
