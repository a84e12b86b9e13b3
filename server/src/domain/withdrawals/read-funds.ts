import type { BalanceSnapshot } from '../../chain/balance-snapshots.ts'
import type { GasFunds } from '../../values/gas.ts'
import type { Context } from '../context.ts'
import type { Wallet } from '../wallets/wallet.ts'

export interface Funds {
  readonly balance: BalanceSnapshot
  /** Null if gas is sponsored. */
  readonly gas: GasFunds | null
}

/** Reads from the chain what the wallet has now. Throws `ChainUnavailable`. */
export async function readFunds(
  { balances, chains }: Pick<Context, 'balances' | 'chains'>,
  { mode, address }: Pick<Wallet, 'mode' | 'address'>,
): Promise<Funds> {
  const chain = chains[mode]
  const [balance, gas] = await Promise.all([
    balances.read(chain, address, 0),
    chain.gas === 'self' ? chain.readGasFunds(address) : null,
  ])
  return { balance, gas }
}
