import { setTimeout as delay } from 'node:timers/promises'
import { encodeDeployData, getContractAddress } from 'viem/utils'
import { CHAIN_IDS } from '../addresses.ts'
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

/** The gas limit of the deployment, which uses 2.3 million gas. */
const DEPLOY_GAS = 4_000_000n

/** Returns the name of USDC on a chain, which is part of its signing domain. It is the same as on the real chain. */
export const usdcNameOf = (chainId: number): string => (chainId === CHAIN_IDS.test ? 'USDC' : 'USD Coin')

/**
 * Deploys the USDC contract to a local chain unless it is already there, and returns its address. Mines a block for it.
 *
 * @throws Error if the node rejects the deployment, or if the contract does not appear in time.
 */
export const deployUsdc = async (rpcUrl: string): Promise<`0x${string}`> => {
  if ((await readCode(rpcUrl)) !== '0x') return usdcAddress
  const chainId = await callRpcNumber(rpcUrl, 'eth_chainId')
  const args = [devAccount.address, usdcNameOf(chainId)] as const
  const data = encodeDeployData({ abi: usdcAbi, bytecode: readBytecode('usdc'), args })
  const raw = await devAccount.signTransaction({
    type: 'eip1559',
    chainId,
    nonce: 0,
    gas: DEPLOY_GAS,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    data,
  })
  // If two processes deploy at the same moment, the node rejects one deployment. The rejected process waits for the
  // other's contract.
  const refusal = await callRpcString(rpcUrl, 'eth_sendRawTransaction', [raw]).then(
    () => undefined,
    (error: unknown) => error,
  )
  await callRpc(rpcUrl, 'evm_mine')
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS
  while ((await readCode(rpcUrl)) === '0x') {
    if (performance.now() > deadline) throw new Error('the USDC contract cannot be deployed', { cause: refusal })
    await delay(NODE_POLL_MS)
  }
  return usdcAddress
}

const readCode = async (rpcUrl: string): Promise<string> =>
  await callRpcString(rpcUrl, 'eth_getCode', [usdcAddress, 'latest'])
