import type { Chain } from '../chain/start-chain.ts'
import type { ControlledChain } from './control-context.ts'

/** A chain that remembers whether its blocks come by themselves. */
export function controlChain(chain: Chain): ControlledChain {
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
