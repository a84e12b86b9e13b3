import { delegateAddress, entryPointAddress } from './account-contracts.ts'
import { callRpc, callRpcString } from './call-rpc.ts'
import { readBytecode } from './contract-artifact.ts'

const CONTRACTS = [
  { address: entryPointAddress, file: 'entry-point' },
  { address: delegateAddress, file: 'delegate-account' },
] as const

/**
 * Installs the EntryPoint and the delegate account at their addresses, unless they are already there. This also
 * upgrades a chain that was created before they existed. Mines a block if it changed something, so that a later
 * reorganization keeps them.
 *
 * @throws Error if the node rejects the change.
 */
export const installAccountContracts = async (rpcUrl: string): Promise<void> => {
  const installed = await Promise.all(CONTRACTS.map((contract) => installContract(rpcUrl, contract)))
  if (installed.includes(true)) await callRpc(rpcUrl, 'evm_mine')
}

/** Returns whether the code was written. */
const installContract = async (rpcUrl: string, { address, file }: (typeof CONTRACTS)[number]): Promise<boolean> => {
  // Running the creation code returns the code to store, with its immutable values filled in.
  const code = await callRpcString(rpcUrl, 'eth_call', [{ data: readBytecode(file) }, 'latest'])
  if ((await callRpcString(rpcUrl, 'eth_getCode', [address, 'latest'])) === code) return false
  await callRpc(rpcUrl, 'anvil_setCode', [address, code])
  return true
}
