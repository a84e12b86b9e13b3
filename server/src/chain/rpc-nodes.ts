import type { Logger } from '../lib/logger.ts'
import type { Mode } from '../values/mode.ts'
import { ChainUnavailable, NodeFault } from './errors.ts'
import { parseEndpoint, postBatch, type RpcCall, type RpcEndpoint } from './json-rpc.ts'
import { parseQuantity } from './quantity.ts'

export type Batch = (calls: readonly RpcCall[]) => Promise<unknown[]>

export type RpcNodes = ReturnType<typeof createRpcNodes>

type RpcNode = RpcEndpoint & {
  readonly index: number
  readonly host: string
  /** Has answered with the configured chain id since its last fault. */
  verified: boolean
  /** Null while in service; else a signal that is aborted once the node may be probed again. */
  rest: AbortSignal | null
  probing: boolean
}

/** How long a node that failed is left alone before it is probed. */
export const NODE_REST_MS = 5_000

/**
 * The nodes of one chain, in order of preference.
 *
 * A node is in service until it fails. Then it rests, and calls go to the next one at once. When its rest is over, the
 * next call starts a probe beside itself, and only a probe that succeeds puts the node back: no caller waits for a node
 * that is known to be dead. When every node rests, all are tried all the same, in order. So a call takes at most
 * `timeoutMs` for each node. A node has to prove its chain id, in the same round trip, before anything it says counts.
 */
export function createRpcNodes(
  options: { mode: Mode; chainId: number; rpcUrls: readonly string[]; timeoutMs: number },
  { logger }: { logger: Logger },
) {
  const { mode, chainId, timeoutMs } = options
  const nodes = options.rpcUrls.map(openNode)
  if (nodes.length === 0) throw new TypeError(`the ${mode} chain has no RPC address`)
  const underWay = new Set<AbortController>()
  let closed = false

  /** Runs `work` against one node, and from its beginning against the next when it throws a `NodeFault`. */
  async function run<T>(work: (batch: Batch) => Promise<T>): Promise<T> {
    if (closed) throw new ChainUnavailable(`the ${mode} chain's connection is closed`)
    probeRested()
    const faults: NodeFault[] = []
    for (const node of [...nodes.filter((node) => node.rest === null), ...nodes.filter((node) => node.rest !== null)]) {
      try {
        return await attempt(node, work)
      } catch (error) {
        if (!(error instanceof NodeFault)) throw error
        if (closed) break
        faults.push(new NodeFault(`#${node.index} ${node.host} ${error.message}`, { cause: error.cause }))
      }
    }
    const told = faults.map((fault) => fault.message).join('; ')
    const cause = faults.length === 1 ? faults[0] : new AggregateError(faults)
    throw new ChainUnavailable(`no node of the ${mode} chain (${chainId}) could be used: ${told}`, { cause })
  }

  async function attempt<T>(node: RpcNode, work: (batch: Batch) => Promise<T>): Promise<T> {
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), timeoutMs)
    underWay.add(abort)
    try {
      const result = await work((calls) => callNode(node, calls, abort.signal))
      restore(node)
      return result
    } catch (error) {
      if (error instanceof NodeFault && !closed) sendToRest(node, error)
      throw error
    } finally {
      clearTimeout(timer)
      underWay.delete(abort)
    }
  }

  async function callNode(node: RpcNode, calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]> {
    if (node.verified) return calls.length === 0 ? [] : await postBatch(node, calls, signal)
    const [answeredId, ...results] = await postBatch(node, [{ method: 'eth_chainId', params: [] }, ...calls], signal)
    const actual = parseQuantity(answeredId)
    if (actual !== BigInt(chainId)) throw new NodeFault(`answers for chain ${actual}, not ${chainId}`)
    node.verified = true
    return results
  }

  function sendToRest(node: RpcNode, fault: NodeFault): void {
    const wasInService = node.rest === null
    node.verified = false
    node.rest = AbortSignal.timeout(NODE_REST_MS)
    if (wasInService) logger.warn({ mode, node: node.index, host: node.host, fault: fault.message }, 'chain node rests')
  }

  function restore(node: RpcNode): void {
    if (node.rest === null) return
    node.rest = null
    logger.info({ mode, node: node.index, host: node.host }, 'chain node is back')
  }

  function probeRested(): void {
    for (const node of nodes) {
      if (node.rest === null || !node.rest.aborted || node.probing) continue
      node.probing = true
      void probe(node)
    }
  }

  async function probe(node: RpcNode): Promise<void> {
    try {
      await attempt(node, (batch) => batch([]))
    } catch {
      // The fault has sent the node to rest again, which is all that it means here.
    } finally {
      node.probing = false
    }
  }

  /** Asks for the chain id afresh. @throws ChainUnavailable that tells which node answers for which chain. */
  async function checkChainId(): Promise<void> {
    for (const node of nodes) node.verified = false
    await run((batch) => batch([]))
  }

  /** Abandons calls under way; later ones are refused. */
  function close(): void {
    closed = true
    for (const abort of underWay) abort.abort()
  }

  return { run, checkChainId, close }
}

function openNode(rpcUrl: string, index: number): RpcNode {
  return { ...parseEndpoint(rpcUrl), index, verified: false, rest: null, probing: false }
}
