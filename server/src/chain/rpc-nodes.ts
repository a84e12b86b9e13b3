import { readProcessMs } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { NOT_MEASURED, type Measurements, type NodeOutcome } from '../lib/measurements.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import type { Mode } from '../values/mode.ts'
import { AdaptiveSize, CALLS_PER_REQUEST } from './adaptive-size.ts'
import {
  BatchRefusal,
  CallReverted,
  ChainBehind,
  ChainBusy,
  ChainUnavailable,
  NodeBehind,
  NodeBusy,
  NodeFault,
} from './errors.ts'
import { openEndpoint, postBatch, type RpcCall, type RpcEndpoint } from './json-rpc.ts'
import { parseQuantity } from './quantity.ts'
import { postSplit, type WitnessCall } from './split-batch.ts'

/** Makes calls at one node. Uses one request, or several if the node does not accept so many calls in one request. */
export type Batch = (calls: readonly RpcCall[], witness?: WitnessCall) => Promise<unknown[]>

export type RpcNodes = ReturnType<typeof createRpcNodes>

/**
 * The address of a node, and its pause. All parts of the service share this object, because the node's rate limit
 * counts all of our requests together.
 */
export type NodeAddress = RpcEndpoint & {
  readonly index: number
  /**
   * Set after the node has sent `Retry-After`. Until this signal is aborted, we must not call the node. Null if it
   * never sent the header.
   */
  pause: AbortSignal | null
}

type RpcNode = {
  readonly address: NodeAddress
  readonly size: AdaptiveSize
  /** Whether the node has returned the configured chain id since its last fault. */
  verified: boolean
  /** Null while the node is in service. After a fault, a signal that is aborted when we may probe the node again. */
  cooldown: AbortSignal | null
  probing: boolean
}

/** How long a node that failed stays out of service before it is probed. */
export const NODE_COOLDOWN_MS = 5_000
/**
 * The bounds of a pause after a node's `Retry-After`. A longer time is shortened, because the operator may raise the
 * quota in the meantime.
 */
export const RETRY_AFTER_MS_MIN = 100
export const RETRY_AFTER_MS_MAX = 60_000

/**
 * Opens the addresses of a chain's nodes. @throws TypeError for an invalid address. The message does not repeat the
 * address.
 */
export function openAddresses(rpcUrls: readonly string[], proxy: EgressProxy | null): NodeAddress[] {
  return rpcUrls.map((rpcUrl, index) => ({ ...openEndpoint(rpcUrl, proxy), index, pause: null }))
}

/**
 * Creates the list of one chain's nodes, the preferred node first.
 *
 * A node is in service until it fails. Then its cooldown begins, and calls use the next node. After the cooldown, the
 * next call also starts a probe in the background, and only a successful probe puts the node back into service. So no
 * caller waits for a node that is known to be down. If no node is in service, all nodes are tried in order. A call
 * takes at most `timeoutMs` for each node. Until a node has returned the right chain id, we use its results only if it
 * returns that id in the same round trip. After a fault, it has to return the id again.
 *
 * A node that sends `Retry-After` is not called before the time that the header names, even if it is the only node. A
 * node that does not have the newest block yet stays in service. The call then uses the next node, and fails if there
 * is none.
 */
export function createRpcNodes(
  options: { mode: Mode; chainId: number; addresses: readonly NodeAddress[]; timeoutMs: number },
  { logger, measurements = NOT_MEASURED }: { logger: Logger; measurements?: Measurements },
) {
  const { mode, chainId, timeoutMs } = options
  const nodes = options.addresses.map(openNode)
  if (nodes.length === 0) throw new TypeError(`the ${mode} chain has no RPC address`)
  const inProgress = new Set<AbortController>()
  let closed = false

  /** Runs `work` at one node. If `work` throws a `NodeFault`, runs it again from the beginning at the next node. */
  async function run<T>(work: (batch: Batch) => Promise<T>): Promise<T> {
    if (closed) throw new ChainUnavailable(`the ${mode} chain's connection is closed`)
    probeCooledDown()
    const faults: NodeFault[] = []
    for (const node of [
      ...nodes.filter((node) => node.cooldown === null),
      ...nodes.filter((node) => node.cooldown !== null),
    ]) {
      try {
        return await attempt(node, work)
      } catch (error) {
        if (!(error instanceof NodeFault)) throw error
        if (closed) break
        faults.push(nameNode(node.address, error))
      }
    }
    const reasons = faults.map((fault) => fault.message).join('; ')
    const cause = faults.length === 1 ? faults[0] : new AggregateError(faults)
    const message = `no node of the ${mode} chain (${chainId}) could be used: ${reasons}`
    if (faults.some((fault) => fault instanceof NodeBehind)) throw new ChainBehind(message, { cause })
    if (faults.every((fault) => fault instanceof NodeBusy)) throw new ChainBusy(message, { cause })
    throw new ChainUnavailable(message, { cause })
  }

  async function attempt<T>(node: RpcNode, work: (batch: Batch) => Promise<T>): Promise<T> {
    if (isPaused(node)) throw new NodeBusy('asked us to wait before the next request', 0)
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), timeoutMs)
    const start = readProcessMs()
    const used = (outcome: NodeOutcome): void =>
      measurements.nodeUsed(mode, node.address.index, outcome, readProcessMs() - start)
    inProgress.add(abort)
    try {
      const result = await work((calls, witness) => callNode(node, calls, { witness, signal: abort.signal }))
      restore(node)
      used('ok')
      return result
    } catch (error) {
      if (error instanceof NodeFault && !closed) used(outcomeOf(error))
      if (error instanceof NodeFault && !(error instanceof NodeBehind) && !closed) startCooldown(node, error)
      throw error
    } finally {
      clearTimeout(timer)
      inProgress.delete(abort)
      // If the batch was split into several requests and one has failed, the others may still be in progress.
      abort.abort()
    }
  }

  async function callNode(
    node: RpcNode,
    calls: readonly RpcCall[],
    { witness = null, signal }: { witness?: WitnessCall | null | undefined; signal: AbortSignal },
  ): Promise<unknown[]> {
    const post = (some: readonly RpcCall[]): Promise<unknown[]> => postBatch(node.address, some, signal)
    const { size } = node
    if (node.verified) return await postSplit(post, { calls, size, witness })
    const verifying = [{ method: 'eth_chainId', params: [] }, ...calls]
    const [answeredId, ...results] = await postSplit(post, { calls: verifying, size, witness })
    const actual = parseQuantity(answeredId)
    if (actual !== BigInt(chainId)) throw new NodeFault(`is on chain ${actual}, not ${chainId}`)
    node.verified = true
    return results
  }

  function startCooldown(node: RpcNode, fault: NodeFault): void {
    const { index, host } = node.address
    const wasInService = node.cooldown === null
    node.verified = false
    if (fault instanceof NodeBusy) {
      const pauseMs = Math.min(Math.max(fault.retryAfterMs, RETRY_AFTER_MS_MIN), RETRY_AFTER_MS_MAX)
      node.address.pause = AbortSignal.timeout(pauseMs)
      node.cooldown = node.address.pause
    } else node.cooldown = AbortSignal.timeout(NODE_COOLDOWN_MS)
    if (wasInService) logger.warn({ mode, node: index, host, fault: fault.message }, 'chain node taken out of service')
  }

  function restore(node: RpcNode): void {
    if (node.cooldown === null) return
    node.cooldown = null
    const { index, host } = node.address
    logger.info({ mode, node: index, host }, 'chain node back in service')
  }

  function probeCooledDown(): void {
    for (const node of nodes) {
      if (node.cooldown === null || !node.cooldown.aborted || node.probing || isPaused(node)) continue
      node.probing = true
      void probe(node)
    }
  }

  async function probe(node: RpcNode): Promise<void> {
    try {
      await attempt(node, (batch) => batch([]))
    } catch {
      // The failed probe has started another cooldown. Nothing else has to be done.
    } finally {
      node.probing = false
    }
  }

  /** Reads the chain id again. @throws ChainUnavailable that names the nodes that belong to another chain. */
  async function checkChainId(): Promise<void> {
    for (const node of nodes) node.verified = false
    await run((batch) => batch([]))
  }

  /** Aborts calls in progress. Later calls fail. */
  function close(): void {
    closed = true
    for (const abort of inProgress) abort.abort()
  }

  return { run, checkChainId, close }
}

function openNode(address: NodeAddress): RpcNode {
  return { address, size: new AdaptiveSize(CALLS_PER_REQUEST), verified: false, cooldown: null, probing: false }
}

function outcomeOf(fault: NodeFault): NodeOutcome {
  if (fault instanceof NodeBusy) return 'busy'
  if (fault instanceof NodeBehind) return 'behind'
  if (fault instanceof BatchRefusal) return 'too_large'
  return fault instanceof CallReverted ? 'reverted' : 'failed'
}

function isPaused({ address }: RpcNode): boolean {
  return address.pause !== null && !address.pause.aborted
}

function nameNode({ index, host }: NodeAddress, fault: NodeFault): NodeFault {
  const message = `#${index} ${host} ${fault.message}`
  const options = { cause: fault.cause }
  if (fault instanceof NodeBusy) return new NodeBusy(message, fault.retryAfterMs)
  return fault instanceof NodeBehind ? new NodeBehind(message, options) : new NodeFault(message, options)
}
