import { createPublicClient, defineChain, http, type PublicClient } from 'viem'
import { encodeFunctionData, keccak256, stringToHex } from 'viem/utils'
import { privateKeyToAccount } from 'viem/accounts'
import { CHAIN_IDS, type Mode } from '../addresses.ts'
import { callRpcNumber, callRpcString } from '../chain/call-rpc.ts'
import { usdcAddress, usdcNameOf } from '../chain/deploy-usdc.ts'
import { serialQueue } from '../chain/serial-queue.ts'
import { RECEIPT_MS_MAX, RECEIPT_POLL_MS } from './limits.ts'

/**
 * The account that submits the payers' authorizations. Its key can be public, because gas is free on these chains, so
 * the account needs no money.
 */
export const facilitatorAccount = privateKeyToAccount(keccak256(stringToHex('bursar sandbox facilitator')))

/** The gas limit of a settlement. A settlement from a wallet that has code uses about 130,000 gas. */
const SETTLE_GAS = 500_000n
/** If another process has used a transaction's nonce, the transaction is sent again, at most this many times in all. */
const SEND_ATTEMPTS_MAX = 5

/** One chain, as the seller sees it. */
export interface SellerChain {
  readonly mode: Mode
  readonly chainId: number
  readonly network: `eip155:${number}`
  /** The chain's name in version 1 of x402. */
  readonly networkV1: 'base' | 'base-sepolia'
  readonly usdc: `0x${string}`
  /** The name and the version in the EIP-712 domain of USDC. */
  readonly domain: { readonly name: string; readonly version: string }
  readonly client: PublicClient
  /** Sends a transaction from the facilitator's account. Returns its hash. */
  send(to: `0x${string}`, data: `0x${string}`): Promise<`0x${string}`>
  /** Calls a function of a contract in a transaction. Returns the transaction's hash. */
  write(call: ContractCall): Promise<`0x${string}`>
  /** Waits until the transaction is in a block, and returns its receipt. */
  waitForReceipt(hash: `0x${string}`): ReturnType<PublicClient['waitForTransactionReceipt']>
}

export interface ContractCall {
  readonly address: `0x${string}`
  readonly abi: readonly unknown[]
  readonly functionName: string
  readonly args: readonly unknown[]
}

export function openSellerChain(mode: Mode, rpcUrl: string): SellerChain {
  const chainId = CHAIN_IDS[mode]
  const chain = defineChain({
    id: chainId,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const client = createPublicClient({ chain, transport: http(rpcUrl), pollingInterval: RECEIPT_POLL_MS, cacheTime: 0 })
  // Sends one transaction at a time. The nonce of the next one is known only after the previous one is in the pool.
  const enqueue = serialQueue()
  const send = (to: `0x${string}`, data: `0x${string}`) =>
    enqueue(() => sendWithNextNonce(rpcUrl, { chainId, to, data }))
  return {
    mode,
    chainId,
    network: `eip155:${chainId}`,
    networkV1: mode === 'live' ? 'base' : 'base-sepolia',
    usdc: usdcAddress,
    domain: { name: usdcNameOf(chainId), version: '2' },
    client,
    send,
    write: ({ address, ...call }) =>
      send(address, encodeFunctionData(call as Parameters<typeof encodeFunctionData>[0])),
    waitForReceipt: (hash) => client.waitForTransactionReceipt({ hash, timeout: RECEIPT_MS_MAX }),
  }
}

async function sendWithNextNonce(
  rpcUrl: string,
  transaction: { readonly chainId: number; readonly to: `0x${string}`; readonly data: `0x${string}` },
): Promise<`0x${string}`> {
  for (let attempt = 1; ; attempt += 1) {
    const nonce = await callRpcNumber(rpcUrl, 'eth_getTransactionCount', [facilitatorAccount.address, 'pending'])
    const fees = { gas: SETTLE_GAS, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    const raw = await facilitatorAccount.signTransaction({ type: 'eip1559', nonce, ...transaction, ...fees })
    try {
      return (await callRpcString(rpcUrl, 'eth_sendRawTransaction', [raw])) as `0x${string}`
    } catch (error) {
      const isTaken = error instanceof Error && /nonce too low|already|underpriced/i.test(error.message)
      if (!isTaken || attempt === SEND_ATTEMPTS_MAX) throw error
    }
  }
}
