import { delegateAddress, entryPointAddress } from './account-contracts.ts'
import { callRpc, callRpcString } from './call-rpc.ts'
import { readBytecode } from './contract-artifact.ts'

const CONTRACTS = [
  { address: entryPointAddress, file: 'entry-point' },
  { address: delegateAddress, file: 'delegate-account' },
] as const

/**
 * Installs the EntryPoint and the delegate account at their addresses, unless they already exist. If anything was
 * installed, mines a block, so that a later reorganization keeps the contracts.
 *
 * @throws Error if the node rejects the change.
 */
export const installAccountContracts = async (rpcUrl: string): Promise<void> => {
  const installed = await Promise.all(CONTRACTS.map((contract) => installContract(rpcUrl, contract)))
  if (installed.includes(true)) await callRpc(rpcUrl, 'evm_mine')
}

/** Installs one contract. Returns false if it exists. */
const installContract = async (rpcUrl: string, { address, file }: (typeof CONTRACTS)[number]): Promise<boolean> => {
  if ((await callRpcString(rpcUrl, 'eth_getCode', [address, 'latest'])) !== '0x') return false
  // The constructor's result is the code to store, with the values of its immutable variables.
  const code = await callRpcString(rpcUrl, 'eth_call', [{ data: readBytecode(file) }, 'latest'])
  await callRpc(rpcUrl, 'anvil_setCode', [address, code])
  return true
}
