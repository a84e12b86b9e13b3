import type { Hash } from 'viem'
import type { Logger } from '../lib/logger.ts'
import { NOT_MEASURED, type Measurements } from '../lib/measurements.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import type { Address } from '../values/address.ts'
import type { GasMode } from '../values/gas.ts'
import type { Mode } from '../values/mode.ts'
import { AdaptiveSize, BLOCKS_PER_QUERY } from './adaptive-size.ts'
import { createAccountReader } from './account-reader.ts'
import { createAuthorizationReader } from './authorization-reader.ts'
import { createBalanceReader } from './balance-reader.ts'
import { createBlockReader } from './block-reader.ts'
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
  /** The addresses of the nodes, the preferred node first. */
  readonly rpcUrls: readonly string[]
  readonly usdc: Address
  /** How deep a block must be for its payments to count as confirmed. The head block has depth 1 (D28). */
  readonly confirmations: number
  /** Who pays the gas; `sponsored` by default. */
  readonly gas?: GasMode
  /** The time limit of a call at one node. If several nodes are tried, each has this much time. */
  readonly timeoutMs?: number
}

export type ReceiptsAtHead = { readonly receipts: ReadonlyMap<Hash, Receipt>; readonly head: bigint }

export type Chain = ReturnType<typeof openChain>

const NODE_TIMEOUT_MS = 3_000
/**
 * The time limit for reading logs. It is longer, because searching a thousand blocks takes a node longer than other
 * calls.
 */
const LOGS_TIMEOUT_MS = 5_000
export const RECEIPTS_PER_BATCH_MAX = 100

/**
 * Opens the service's only connection to a chain. The connection reads heads, USDC balances, receipts and transfers
 * over JSON-RPC. No request is made before the first call.
 *
 * We call nodes ourselves and not with viem's transports. With several nodes, viem cannot send two calls to the same
 * node and does not remember which node is down. Its errors also repeat the node's address, which may contain an API
 * key.
 */
export function openChain(
  options: ChainOptions,
  {
    logger,
    measurements = NOT_MEASURED,
    proxy = null,
  }: { logger: Logger; measurements?: Measurements; proxy?: EgressProxy | null },
) {
  const deps = { logger, measurements }
  const { mode, chainId, usdc, confirmations, gas = 'sponsored' } = options
  const { rpcUrls, timeoutMs = NODE_TIMEOUT_MS } = options
  const logsTimeoutMs = options.timeoutMs ?? LOGS_TIMEOUT_MS
  const addresses = openAddresses(rpcUrls, proxy)
  const nodes = createRpcNodes({ mode, chainId, addresses, timeoutMs }, deps)
  // Logs have their own list of nodes. If a node rejects a wide range of logs or is slow to return it, we stop using
  // the node for logs, but not for payments.
  const logNodes = createRpcNodes({ mode, chainId, addresses, timeoutMs: logsTimeoutMs }, deps)
  // The second reading of blocks asks the last node first.
  const secondAddresses = addresses.toReversed()
  const secondNodes = createRpcNodes({ mode, chainId, addresses: secondAddresses, timeoutMs: logsTimeoutMs }, deps)
  // Old blocks have their own list of nodes too, because most nodes have no state of them.
  const blockNodes = createRpcNodes({ mode, chainId, addresses, timeoutMs }, deps)
  const size = new AdaptiveSize(BLOCKS_PER_QUERY)

  /**
   * Reads the receipts of transactions, by hash. A transaction that is not mined has no receipt. @throws
   * ChainUnavailable
   */
  async function readReceipts(hashes: readonly Hash[]): Promise<ReadonlyMap<Hash, Receipt>> {
    const receipts: [Hash, Receipt][] = []
    for (const chunk of splitHashes(hashes)) receipts.push(...(await readChunk(chunk, [])).receipts)
    return new Map(receipts)
  }

  /**
   * Reads receipts, together with the head block's number from the same node. `hashes` must not be empty. If the batch
   * is split, returns the lowest head. A receipt from a block above that head is not deep enough yet. @throws
   * ChainUnavailable
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
    ...createHeadReader(nodes, (head) => measurements.headRead(mode, head)),
    /**
     * Reads the USDC balance of an address. Also returns the number of the block at which the balance was read. @throws
     * ChainUnavailable
     */
    readUsdcBalance: createBalanceReader(nodes, usdc),
    ...createBlockReader(blockNodes, usdc),
    readReceipts,
    readReceiptsAtHead,
    ...createAccountReader(nodes),
    ...createGasReader(nodes, chainId),
    ...createAuthorizationReader(nodes, { usdc, confirmations }),
    ...createTransferReader({ nodes: logNodes, secondNodes }, { usdc, size }),
    ...createSearchReader({ nodes, logNodes, size }, { usdc, confirmations }),
    /**
     * Checks the chain id, for the readiness endpoint. @throws ChainUnavailable that names the nodes that belong to
     * another chain.
     */
    checkChainId: nodes.checkChainId,
    close: () => {
      nodes.close()
      logNodes.close()
      secondNodes.close()
      blockNodes.close()
      for (const address of addresses) address.close()
    },
  }
}

function splitHashes(hashes: readonly Hash[]): (readonly Hash[])[] {
  const count = Math.ceil(hashes.length / RECEIPTS_PER_BATCH_MAX)
  return Array.from({ length: count }, (_, index) =>
    hashes.slice(index * RECEIPTS_PER_BATCH_MAX, (index + 1) * RECEIPTS_PER_BATCH_MAX),
  )
}
