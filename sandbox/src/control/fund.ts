import type { Address } from '../../../server/src/values/address.ts'
import type { MicroUsdc } from '../../../server/src/values/money.ts'
import type { Mode } from '../addresses.ts'
import { mintUsdc } from '../chain/mint-usdc.ts'
import type { World } from './world.ts'

/** The faucet. Answers the transaction's hash when it is in a block, or waits for one where mining is off. */
export async function fund(
  { chains }: Pick<World, 'chains'>,
  { mode, to, amountMicro }: { mode: Mode; to: Address; amountMicro: MicroUsdc },
): Promise<string> {
  const chain = chains[mode]
  const hash = await mintUsdc(chain.rpcUrl, { to, amountMicro })
  if (chain.mining) await chain.mine(1)
  return hash
}
