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
 * Returns the balance that a wallet pays gas from, in the chain's native coin. Returns null, without asking the chain,
 * if gas is sponsored.
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
