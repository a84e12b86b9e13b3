import type { Hash } from 'viem'
import type { Logger } from '../lib/logger.ts'
import type { Address } from '../values/address.ts'
import type { GasMode } from '../values/gas.ts'
import type { Mode } from '../values/mode.ts'
import { createBalanceReader } from './balance-reader.ts'
import { createGasReader } from './gas-reader.ts'
import { createHeadReader, HEAD_CALL } from './head-reader.ts'
import type { RpcCall } from './json-rpc.ts'
import { parseQuantity } from './quantity.ts'
import { parseReceipt, type Receipt } from './parse-receipt.ts'
import { createRpcNodes, openAddresses } from './rpc-nodes.ts'
import { createSearchReader } from './search-reader.ts'
import { createTransferReader } from './transfer-reader.ts'

export type ChainOptions = {
  readonly mode: Mode
  readonly chainId: number
  /** In order of preference. */
  readonly rpcUrls: readonly string[]
  readonly usdc: Address
  /** How deep a block must be for its payments to count as confirmed; 1 is the head itself (D28). */
  readonly confirmations: number
  /** Who pays the gas; `sponsored` by default. */
  readonly gas?: GasMode
  /** The time limit of one node. A call takes at most this long for each node. */
  readonly timeoutMs?: number
}

export type ReceiptsAtHead = { readonly receipts: ReadonlyMap<Hash, Receipt>; readonly head: bigint }

export type Chain = ReturnType<typeof openChain>

const NODE_TIMEOUT_MS = 3_000
/** Searching a thousand blocks takes a node longer. */
const LOGS_TIMEOUT_MS = 5_000
export const RECEIPTS_PER_BATCH_MAX = 100

/**
 * The only connection to a chain: heads, USDC balances, receipts and transfers over JSON-RPC. Nothing is sent before the
 * first call.
 *
 * Requests use `fetch` and not viem's transports. With several nodes, those can neither send two calls to the same node nor
 * remember which node is down, and their errors repeat the address with its API key.
 */
export function openChain(options: ChainOptions, { logger }: { logger: Logger }) {
  const { mode, chainId, usdc, confirmations, gas = 'sponsored' } = options
  const { rpcUrls, timeoutMs = NODE_TIMEOUT_MS } = options
  const logsTimeoutMs = options.timeoutMs ?? LOGS_TIMEOUT_MS
  const addresses = openAddresses(rpcUrls)
  const nodes = createRpcNodes({ mode, chainId, addresses, timeoutMs }, { logger })
  // A node that refuses a wide range of logs, or is slow at it, is taken out of service for logs only, not for payments.
  const logNodes = createRpcNodes({ mode, chainId, addresses, timeoutMs: logsTimeoutMs }, { logger })

  /** Reads receipts by hash. A transaction that is not mined has none. @throws ChainUnavailable */
  async function readReceipts(hashes: readonly Hash[]): Promise<ReadonlyMap<Hash, Receipt>> {
    const receipts: [Hash, Receipt][] = []
    for (const chunk of splitHashes(hashes)) receipts.push(...(await readChunk(chunk, [])).receipts)
    return new Map(receipts)
  }

  /**
   * Reads the receipts of at least one hash, together with the head of the same node. If the batch is split, the lowest head
   * is returned. A receipt above it is not deep enough yet. @throws ChainUnavailable
   */
  async function readReceiptsAtHead(hashes: readonly Hash[]): Promise<ReceiptsAtHead> {
    const receipts: [Hash, Receipt][] = []
    let head: bigint | null = null
    for (const chunk of splitHashes(hashes)) {
      const read = await readChunk(chunk, [HEAD_CALL])
      for (const number of read.numbers) head = head === null || number < head ? number : head
      receipts.push(...read.receipts)
    }
    if (head === null) throw new RangeError('at least one hash is required')
    return { receipts: new Map(receipts), head }
  }

  async function readChunk(
    hashes: readonly Hash[],
    others: readonly RpcCall[],
  ): Promise<{ receipts: [Hash, Receipt][]; numbers: bigint[] }> {
    return await nodes.run(async (batch) => {
      const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
      const answers = await batch([...calls, ...others])
      const receipts = hashes.flatMap((hash, i): [Hash, Receipt][] => {
        const receipt = parseReceipt(hash, answers[i])
        return receipt === null ? [] : [[hash, receipt]]
      })
      return { receipts, numbers: answers.slice(hashes.length).map(parseQuantity) }
    })
  }

  return {
    mode,
    chainId,
    usdc,
    confirmations,
    gas,
    ...createHeadReader(nodes),
    /** Reads the USDC of an address, exactly at the returned `blockNumber`. @throws ChainUnavailable */
    readUsdcBalance: createBalanceReader(nodes, usdc),
    readReceipts,
    readReceiptsAtHead,
    ...createGasReader(nodes, chainId),
    ...createTransferReader(logNodes, usdc),
    ...createSearchReader({ nodes, logNodes }, { usdc, confirmations }),
    /** For readiness. @throws ChainUnavailable that names the nodes of another chain. */
    checkChainId: nodes.checkChainId,
    close: () => {
      nodes.close()
      logNodes.close()
    },
  }
}

function splitHashes(hashes: readonly Hash[]): (readonly Hash[])[] {
  const count = Math.ceil(hashes.length / RECEIPTS_PER_BATCH_MAX)
  return Array.from({ length: count }, (_, index) =>
    hashes.slice(index * RECEIPTS_PER_BATCH_MAX, (index + 1) * RECEIPTS_PER_BATCH_MAX),
  )
}
