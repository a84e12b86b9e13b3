import type { BalanceSnapshot } from '../../chain/balance-snapshots.ts'
import type { GasFunds } from '../../values/gas.ts'
import type { Context } from '../context.ts'
import type { Wallet } from '../wallets/wallet.ts'

export interface Funds {
  readonly balance: BalanceSnapshot
  /** Null if gas is sponsored. */
  readonly gas: GasFunds | null
}

/**
 * Reads from the chain what the wallet has now. Throws `ChainUnavailable`, and `EnclaveOutOfReach` if the enclave has been
 * out of reach for some seconds: a withdrawal is sent once, so its owner would have signed in vain.
 */
export async function readFunds(
  { balances, chains, enclave }: Pick<Context, 'balances' | 'chains' | 'enclave'>,
  { mode, address }: Pick<Wallet, 'mode' | 'address'>,
): Promise<Funds> {
  const chain = chains[mode]
  const [balance, gas] = await Promise.all([
    balances.read(chain, address, 0),
    chain.gas === 'self' ? chain.readGasFunds(address) : null,
    enclave.requireInReach(),
  ])
  return { balance, gas }
}
