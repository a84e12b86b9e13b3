import type { Address } from '../../../server/src/values/address.ts'
import type { MicroUsdc } from '../../../server/src/values/money.ts'
import type { Mode } from '../addresses.ts'
import { callRpc, callRpcString } from '../chain/call-rpc.ts'
import { mintUsdc } from '../chain/mint-usdc.ts'
import type { ControlContext } from './control-context.ts'

/**
 * Mints USDC to an address and returns the hash of the transaction. If the chain mines automatically, waits until the
 * transaction is in a block.
 */
export async function fund(
  { chains }: Pick<ControlContext, 'chains'>,
  { mode, to, amountMicro }: { mode: Mode; to: Address; amountMicro: MicroUsdc },
): Promise<string> {
  const chain = chains[mode]
  const hash = await mintUsdc(chain.rpcUrl, { to, amountMicro })
  if (chain.mining) await chain.mine(1)
  return hash
}

/**
 * Adds an amount of the chain's native coin to an address's balance. No account on a local chain has native coins to
 * send, so the balance is set directly, and takes effect at once.
 */
export async function fundCoin(
  { chains }: Pick<ControlContext, 'chains'>,
  { mode, to, amountWei }: { mode: Mode; to: Address; amountWei: bigint },
): Promise<void> {
  const { rpcUrl } = chains[mode]
  const balanceWei = BigInt(await callRpcString(rpcUrl, 'eth_getBalance', [to, 'latest']))
  await callRpc(rpcUrl, 'anvil_setBalance', [to, `0x${(balanceWei + amountWei).toString(16)}`])
}
