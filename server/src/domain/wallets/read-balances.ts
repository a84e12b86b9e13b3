import { ChainUnavailable } from '../../chain/errors.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { Context } from '../context.ts'

const READS_AT_ONCE_MAX = 10
/** Only so many balances of a longer list are read, because payments use the same chain nodes. */
const BALANCES_MAX = 100

/**
 * Returns the USDC balances of the first 100 wallets, none older than `ageMsMax` (default: one second). Wallets whose
 * balance could not be read are left out. After the first failure no more are read, so an unreachable chain costs one
 * timeout and not one per wallet.
 */
export async function readBalances(
  ctx: Pick<Context, 'chains' | 'balances'>,
  { mode, addresses, ageMsMax }: { mode: Mode; addresses: readonly Address[]; ageMsMax?: number },
): Promise<ReadonlyMap<Address, MicroUsdc>> {
  const balances = new Map<Address, MicroUsdc>()
  const asked = addresses.slice(0, BALANCES_MAX)
  for (let start = 0; start < asked.length; start += READS_AT_ONCE_MAX) {
    const some = asked.slice(start, start + READS_AT_ONCE_MAX)
    const read = await Promise.all(some.map((address) => readBalance(ctx, mode, address, ageMsMax)))
    some.forEach((address, index) => {
      const balance = read[index] ?? null
      if (balance !== null) balances.set(address, balance)
    })
    if (read.includes(null)) break
  }
  return balances
}

async function readBalance(
  { chains, balances }: Pick<Context, 'chains' | 'balances'>,
  mode: Mode,
  address: Address,
  ageMsMax?: number,
): Promise<MicroUsdc | null> {
  try {
    return (await balances.read(chains[mode], address, ageMsMax)).balanceMicro
  } catch (error) {
    if (error instanceof ChainUnavailable) return null
    throw error
  }
}
