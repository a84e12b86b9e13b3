import type { Logger } from '../lib/logger.ts'
import type { Mode } from '../values/mode.ts'
import { BatchSize } from './batch-size.ts'
import { ChainBehind, ChainUnavailable, NodeBehind, NodeBusy, NodeFault } from './errors.ts'
import { parseEndpoint, postBatch, type RpcCall, type RpcEndpoint } from './json-rpc.ts'
import { parseQuantity } from './quantity.ts'
import { postSplit, type WitnessCall } from './split-batch.ts'

/** Makes calls at one node, in one request or, where the node takes fewer calls in one, in several. */
export type Batch = (calls: readonly RpcCall[], beside?: WitnessCall) => Promise<unknown[]>

export type RpcNodes = ReturnType<typeof createRpcNodes>

/** One node as all its users share it: a rate limit counts what they all ask. */
export type NodeAddress = RpcEndpoint & {
  readonly index: number
  readonly host: string
  /** Not aborted: the node asked to be left alone until it is. Null: it never did. */
  pause: AbortSignal | null
}

type RpcNode = {
  readonly address: NodeAddress
  readonly size: BatchSize
  /** Has answered with the configured chain id since its last fault. */
  verified: boolean
  /** Null while in service; else a signal that is aborted once the node may be probed again. */
  rest: AbortSignal | null
  probing: boolean
}

/** How long a node that failed is left alone before it is probed. */
export const NODE_COOLDOWN_MS = 5_000
/** A node's `Retry-After` is obeyed within these bounds: its quota may last a day, but it may be raised meanwhile. */
export const RETRY_AFTER_MS_MIN = 100
export const RETRY_AFTER_MS_MAX = 60_000

/** @throws TypeError for an address that is none, without repeating it. */
export function openAddresses(rpcUrls: readonly string[]): NodeAddress[] {
  return rpcUrls.map((rpcUrl, index) => ({ ...parseEndpoint(rpcUrl), index, pause: null }))
}

/**
 * The nodes of one chain, in order of preference.
 *
 * A node is in service until it fails. Then it rests, and calls go to the next one at once. When its rest is over, the
 * next call starts a probe beside itself, and only a probe that succeeds puts the node back: no caller waits for a node
 * that is known to be dead. When every node rests, all are tried all the same, in order. So a call takes at most
 * `timeoutMs` for each node. A node has to prove its chain id, in the same round trip, before anything it says counts.
 *
 * A node that says how long it wants to be left alone (`Retry-After`) is not asked before, even if it is the only one.
 * One that is behind its sibling by a block stays in service: the call is made at the next node, or fails.
 */
export function createRpcNodes(
  options: { mode: Mode; chainId: number; addresses: readonly NodeAddress[]; timeoutMs: number },
  { logger }: { logger: Logger },
) {
  const { mode, chainId, timeoutMs } = options
  const nodes = options.addresses.map(openNode)
  if (nodes.length === 0) throw new TypeError(`the ${mode} chain has no RPC address`)
  const underWay = new Set<AbortController>()
  let closed = false

  /** Runs `work` against one node, and from its beginning against the next when it throws a `NodeFault`. */
  async function run<T>(work: (batch: Batch) => Promise<T>): Promise<T> {
    if (closed) throw new ChainUnavailable(`the ${mode} chain's connection is closed`)
    probeCooledDown()
    const faults: NodeFault[] = []
    for (const node of [...nodes.filter((node) => node.rest === null), ...nodes.filter((node) => node.rest !== null)]) {
      try {
        return await attempt(node, work)
      } catch (error) {
        if (!(error instanceof NodeFault)) throw error
        if (closed) break
        faults.push(nameNode(node.address, error))
      }
    }
    const told = faults.map((fault) => fault.message).join('; ')
    const cause = faults.length === 1 ? faults[0] : new AggregateError(faults)
    const isBehind = faults.some((fault) => fault instanceof NodeBehind)
    const message = `no node of the ${mode} chain (${chainId}) could be used: ${told}`
    throw isBehind ? new ChainBehind(message, { cause }) : new ChainUnavailable(message, { cause })
  }

  async function attempt<T>(node: RpcNode, work: (batch: Batch) => Promise<T>): Promise<T> {
    if (isPaused(node)) throw new NodeFault('asked to be left alone for a while')
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), timeoutMs)
    underWay.add(abort)
    try {
      const result = await work((calls, beside) => callNode(node, calls, { beside, signal: abort.signal }))
      restore(node)
      return result
    } catch (error) {
      if (error instanceof NodeFault && !(error instanceof NodeBehind) && !closed) startCooldown(node, error)
      throw error
    } finally {
      clearTimeout(timer)
      underWay.delete(abort)
      // Of a batch that was split, one request may have failed while others are still under way.
      abort.abort()
    }
  }

  async function callNode(
    node: RpcNode,
    calls: readonly RpcCall[],
    { beside = null, signal }: { beside?: WitnessCall | null | undefined; signal: AbortSignal },
  ): Promise<unknown[]> {
    const post = (some: readonly RpcCall[]): Promise<unknown[]> => postBatch(node.address, some, signal)
    const { size } = node
    if (node.verified) return await postSplit(post, { calls, size, beside })
    const verifying = [{ method: 'eth_chainId', params: [] }, ...calls]
    const [answeredId, ...results] = await postSplit(post, { calls: verifying, size, beside })
    const actual = parseQuantity(answeredId)
    if (actual !== BigInt(chainId)) throw new NodeFault(`answers for chain ${actual}, not ${chainId}`)
    node.verified = true
    return results
  }

  function startCooldown(node: RpcNode, fault: NodeFault): void {
    const { index, host } = node.address
    const wasInService = node.rest === null
    node.verified = false
    if (fault instanceof NodeBusy) {
      const pauseMs = Math.min(Math.max(fault.retryAfterMs, RETRY_AFTER_MS_MIN), RETRY_AFTER_MS_MAX)
      node.address.pause = AbortSignal.timeout(pauseMs)
      node.rest = node.address.pause
    } else node.rest = AbortSignal.timeout(NODE_COOLDOWN_MS)
    if (wasInService) logger.warn({ mode, node: index, host, fault: fault.message }, 'chain node rests')
  }

  function restore(node: RpcNode): void {
    if (node.rest === null) return
    node.rest = null
    const { index, host } = node.address
    logger.info({ mode, node: index, host }, 'chain node is back')
  }

  function probeCooledDown(): void {
    for (const node of nodes) {
      if (node.rest === null || !node.rest.aborted || node.probing || isPaused(node)) continue
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

function openNode(address: NodeAddress): RpcNode {
  return { address, size: new BatchSize(), verified: false, rest: null, probing: false }
}

function isPaused({ address }: RpcNode): boolean {
  return address.pause !== null && !address.pause.aborted
}

function nameNode({ index, host }: NodeAddress, fault: NodeFault): NodeFault {
  const message = `#${index} ${host} ${fault.message}`
  const options = { cause: fault.cause }
  return fault instanceof NodeBehind ? new NodeBehind(message, options) : new NodeFault(message, options)
}
