import type { Hash } from 'viem'
import type { Logger } from '../lib/logger.ts'
import type { Address } from '../values/address.ts'
import type { Mode } from '../values/mode.ts'
import { createBalanceReader } from './balance-reader.ts'
import { parseQuantity } from './quantity.ts'
import { parseReceipt, type Receipt } from './receipt.ts'
import { createRpcNodes } from './rpc-nodes.ts'
import { createTransferReader } from './transfer-reader.ts'

export type ChainOptions = {
  readonly mode: Mode
  readonly chainId: number
  /** In order of preference. */
  readonly rpcUrls: readonly string[]
  readonly usdc: Address
  /** Blocks until a payment counts as confirmed; 1 is the block it stands in (D28). */
  readonly confirmations: number
  /** Of one node; a call takes at most this for each node. */
  readonly timeoutMs?: number
}

export type Chain = ReturnType<typeof openChain>

const NODE_TIMEOUT_MS = 3_000
/** Searching a thousand blocks takes a node its time. */
const LOGS_TIMEOUT_MS = 5_000
export const RECEIPTS_PER_BATCH_MAX = 100

/**
 * The one wire to a chain: heads, USDC balances, receipts and transfers over JSON-RPC. Nothing is sent before the first call.
 *
 * Requests go by `fetch` and not by viem's transports: those can neither pin two calls to one node under fail-over, nor
 * remember which node is dead, and their errors repeat the address with its API key.
 */
export function openChain(options: ChainOptions, { logger }: { logger: Logger }) {
  const { mode, chainId, usdc, confirmations } = options
  const { rpcUrls, timeoutMs = NODE_TIMEOUT_MS } = options
  const logsTimeoutMs = options.timeoutMs ?? LOGS_TIMEOUT_MS
  const nodes = createRpcNodes({ mode, chainId, rpcUrls, timeoutMs }, { logger })
  // A node that refuses a wide range of logs, or is slow at it, serves payments as well as before: it rests here alone.
  const logNodes = createRpcNodes({ mode, chainId, rpcUrls, timeoutMs: logsTimeoutMs }, { logger })

  /** The newest block's number. @throws ChainUnavailable */
  async function readHead(): Promise<bigint> {
    return await nodes.run(async (batch) => {
      const [head] = await batch([{ method: 'eth_blockNumber', params: [] }])
      return parseQuantity(head)
    })
  }

  /** The receipts by hash as it was given; one that is absent is not mined. @throws ChainUnavailable */
  async function readReceipts(hashes: readonly Hash[]): Promise<ReadonlyMap<Hash, Receipt>> {
    const receipts = new Map<Hash, Receipt>()
    for (let start = 0; start < hashes.length; start += RECEIPTS_PER_BATCH_MAX) {
      for (const [hash, receipt] of await readChunk(hashes.slice(start, start + RECEIPTS_PER_BATCH_MAX))) {
        if (receipt !== null) receipts.set(hash, receipt)
      }
    }
    return receipts
  }

  async function readChunk(hashes: readonly Hash[]): Promise<[Hash, Receipt | null][]> {
    return await nodes.run(async (batch) => {
      const answers = await batch(hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
      return hashes.map((hash, i) => [hash, parseReceipt(hash, answers[i])])
    })
  }

  return {
    mode,
    chainId,
    usdc,
    confirmations,
    readHead,
    /** The USDC of an address exactly at `blockNumber`, the head. @throws ChainUnavailable */
    readUsdcBalance: createBalanceReader(nodes, usdc),
    readReceipts,
    ...createTransferReader(logNodes, usdc),
    /** For readiness. @throws ChainUnavailable that tells which node answers for which chain. */
    checkChainId: nodes.checkChainId,
    close: () => {
      nodes.close()
      logNodes.close()
    },
  }
}
