import { ChainUnavailable } from '../../chain/errors.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'

export interface CoinBalance {
  readonly coin: string
  /** Null if the chain could not be reached. */
  readonly balanceWei: bigint | null
}

/**
 * Returns a wallet's balance in the chain's native coin, with which the wallet pays gas. If gas is sponsored, returns
 * null without asking the chain.
 */
export async function readCoinBalance(
  { chains }: Pick<Context, 'chains'>,
  { mode, address }: { mode: Mode; address: Address },
): Promise<CoinBalance | null> {
  const chain = chains[mode]
  if (chain.gas === 'sponsored') return null
  try {
    return { coin: chain.coin, balanceWei: await chain.readCoinBalance(address) }
  } catch (error) {
    if (error instanceof ChainUnavailable) return { coin: chain.coin, balanceWei: null }
    throw error
  }
}
