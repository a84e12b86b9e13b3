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
import { parseReceipt, type Receipt } from './receipt.ts'
import { createRpcNodes, openAddresses } from './rpc-nodes.ts'
import { createSearchReader } from './search-reader.ts'
import { createTransferReader } from './transfer-reader.ts'

export type ChainOptions = {
  readonly mode: Mode
  readonly chainId: number
  /** In order of preference. */
  readonly rpcUrls: readonly string[]
  readonly usdc: Address
  /** Blocks until a payment counts as confirmed; 1 is the block it stands in (D28). */
  readonly confirmations: number
  /** Who pays the gas; `sponsored` by default. */
  readonly gas?: GasMode
  /** Of one node; a call takes at most this for each node. */
  readonly timeoutMs?: number
}

export type ReceiptsAtHead = { readonly receipts: ReadonlyMap<Hash, Receipt>; readonly head: bigint }

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
  const { mode, chainId, usdc, confirmations, gas = 'sponsored' } = options
  const { rpcUrls, timeoutMs = NODE_TIMEOUT_MS } = options
  const logsTimeoutMs = options.timeoutMs ?? LOGS_TIMEOUT_MS
  const addresses = openAddresses(rpcUrls)
  const nodes = createRpcNodes({ mode, chainId, addresses, timeoutMs }, { logger })
  // A node that refuses a wide range of logs, or is slow at it, serves payments as well as before: it rests here alone.
  const logNodes = createRpcNodes({ mode, chainId, addresses, timeoutMs: logsTimeoutMs }, { logger })

  /** The receipts by hash as it was given; one that is absent is not mined. @throws ChainUnavailable */
  async function readReceipts(hashes: readonly Hash[]): Promise<ReadonlyMap<Hash, Receipt>> {
    const receipts: [Hash, Receipt][] = []
    for (const chunk of splitHashes(hashes)) receipts.push(...(await readChunk(chunk, [])).receipts)
    return new Map(receipts)
  }

  /**
   * The receipts of at least one hash, and the head as the same node told it beside them: the lowest, where a batch was
   * split. A receipt above it is not deep enough yet. @throws ChainUnavailable
   */
  async function readReceiptsAtHead(hashes: readonly Hash[]): Promise<ReceiptsAtHead> {
    const receipts: [Hash, Receipt][] = []
    let head: bigint | null = null
    for (const chunk of splitHashes(hashes)) {
      const read = await readChunk(chunk, [HEAD_CALL])
      for (const told of read.numbers) head = head === null || told < head ? told : head
      receipts.push(...read.receipts)
    }
    if (head === null) throw new RangeError('no hashes to read receipts of')
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
    /** The USDC of an address exactly at `blockNumber`, the head. @throws ChainUnavailable */
    readUsdcBalance: createBalanceReader(nodes, usdc),
    readReceipts,
    readReceiptsAtHead,
    ...createGasReader(nodes, chainId),
    ...createTransferReader(logNodes, usdc),
    ...createSearchReader({ nodes, logNodes }, { usdc, confirmations }),
    /** For readiness. @throws ChainUnavailable that tells which node answers for which chain. */
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
