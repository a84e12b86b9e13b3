import type { Address } from '../../../server/src/values/address.ts'
import type { MicroUsdc } from '../../../server/src/values/money.ts'
import type { Mode } from '../addresses.ts'
import { callRpc, callRpcString } from '../chain/call-rpc.ts'
import { mintUsdc } from '../chain/mint-usdc.ts'
import type { ControlContext } from './control-context.ts'

/** The faucet. Answers the transaction's hash when it is in a block, or waits for one where mining is off. */
export async function fund(
  { chains }: Pick<ControlContext, 'chains'>,
  { mode, to, amountMicro }: { mode: Mode; to: Address; amountMicro: MicroUsdc },
): Promise<string> {
  const chain = chains[mode]
  const hash = await mintUsdc(chain.rpcUrl, { to, amountMicro })
  if (chain.mining) await chain.mine(1)
  return hash
}

/** The chain's own coin, from nowhere: there is nobody on a local chain to send it. It is there at once. */
export async function fundCoin(
  { chains }: Pick<ControlContext, 'chains'>,
  { mode, to, amountWei }: { mode: Mode; to: Address; amountWei: bigint },
): Promise<void> {
  const { rpcUrl } = chains[mode]
  const balanceWei = BigInt(await callRpcString(rpcUrl, 'eth_getBalance', [to, 'latest']))
  await callRpc(rpcUrl, 'anvil_setBalance', [to, `0x${(balanceWei + amountWei).toString(16)}`])
}
