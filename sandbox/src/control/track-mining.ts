import type { Chain } from '../chain/start-chain.ts'
import type { ControlledChain } from './control-context.ts'

/** Wraps a chain so that it also records whether it mines blocks automatically. */
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
