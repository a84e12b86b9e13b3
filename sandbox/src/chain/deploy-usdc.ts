import { setTimeout as delay } from 'node:timers/promises'
import { encodeDeployData, getContractAddress } from 'viem/utils'
import { callRpc, callRpcNumber, callRpcString } from './call-rpc.ts'
import { devAccount } from './dev-account.ts'
import { NODE_POLL_MS, RECEIPT_TIMEOUT_MS } from './limit.ts'
import { usdcAbi } from './usdc-abi.ts'
import { readBytecode } from './contract-artifact.ts'

/**
 * The address of the USDC contract. It is the same on every local chain, because the contract is the first one that the
 * dev account deploys.
 */
export const usdcAddress = getContractAddress({ from: devAccount.address, nonce: 0n })

/** The gas limit of the deployment, which uses 1.6 million gas. */
const DEPLOY_GAS = 3_000_000n

/**
 * Deploys the USDC contract to a local chain unless it is already there, and returns its address. Mines a block for it.
 *
 * @throws Error if the node rejects the deployment, or if the contract does not appear in time.
 */
export const deployUsdc = async (rpcUrl: string): Promise<`0x${string}`> => {
  if (await isDeployed(rpcUrl)) return usdcAddress
  const raw = await devAccount.signTransaction({
    type: 'eip1559',
    chainId: await callRpcNumber(rpcUrl, 'eth_chainId'),
    nonce: 0,
    gas: DEPLOY_GAS,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    data: encodeDeployData({ abi: usdcAbi, bytecode: readBytecode('usdc'), args: [devAccount.address] }),
  })
  // If two processes deploy at the same moment, the node rejects one deployment. The rejected process waits for the
  // other's contract.
  const refusal = await callRpcString(rpcUrl, 'eth_sendRawTransaction', [raw]).then(
    () => undefined,
    (error: unknown) => error,
  )
  await callRpc(rpcUrl, 'evm_mine')
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS
  while (!(await isDeployed(rpcUrl))) {
    if (performance.now() > deadline) throw new Error('the USDC contract cannot be deployed', { cause: refusal })
    await delay(NODE_POLL_MS)
  }
  return usdcAddress
}

const isDeployed = async (rpcUrl: string): Promise<boolean> =>
  (await callRpcString(rpcUrl, 'eth_getCode', [usdcAddress, 'latest'])) !== '0x'
