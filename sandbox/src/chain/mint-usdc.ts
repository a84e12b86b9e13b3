import { encodeFunctionData } from 'viem/utils'
import { callRpcNumber, callRpcString } from './call-rpc.ts'
import { usdcAddress } from './deploy-usdc.ts'
import { devAccount } from './dev-account.ts'
import { type Enqueue, serialQueue } from './serial-queue.ts'
import { usdcAbi } from './usdc-abi.ts'

export type MintUsdc = {
  readonly to: `0x${string}`
  /** The amount in micro-USDC. It must be greater than zero. */
  readonly amountMicro: bigint
}

/** The gas limit of a mint, which uses about 70,000 gas. */
const MINT_GAS = 150_000n

/**
 * The most times that one mint is sent. If another process mints at the same moment and uses the same nonce, the mint
 * is sent again.
 */
const SEND_ATTEMPTS_MAX = 5

// A queue for each node sends one transaction at a time, because the next nonce is known only once the last transaction
// is in the node's pool.
const queues = new Map<string, Enqueue>()

/**
 * Mints USDC to an address on a local chain; this is the sandbox's faucet. Returns the transaction's hash once the node
 * has accepted the transaction. The transaction is mined in the next block.
 *
 * @throws Error if the amount is not above zero, or if the node rejects the transaction.
 */
export const mintUsdc = async (rpcUrl: string, { to, amountMicro }: MintUsdc): Promise<`0x${string}`> => {
  if (amountMicro <= 0n) throw new Error('the amount must be above zero')
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'mint', args: [to, amountMicro] })
  const queue = queues.get(rpcUrl) ?? serialQueue()
  queues.set(rpcUrl, queue)
  return queue(() => sendWithNextNonce(rpcUrl, data))
}

const sendWithNextNonce = async (rpcUrl: string, data: `0x${string}`): Promise<`0x${string}`> => {
  const chainId = await callRpcNumber(rpcUrl, 'eth_chainId')
  for (let attempt = 1; ; attempt += 1) {
    const nonce = await callRpcNumber(rpcUrl, 'eth_getTransactionCount', [devAccount.address, 'pending'])
    const fees = { gas: MINT_GAS, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    const raw = await devAccount.signTransaction({ type: 'eip1559', chainId, nonce, to: usdcAddress, data, ...fees })
    try {
      return (await callRpcString(rpcUrl, 'eth_sendRawTransaction', [raw])) as `0x${string}`
    } catch (error) {
      if (attempt === SEND_ATTEMPTS_MAX || !isNonceTaken(error)) throw error
    }
  }
}

const isNonceTaken = (error: unknown): boolean =>
  error instanceof Error && /nonce too low|already imported|already known|underpriced/i.test(error.message)
