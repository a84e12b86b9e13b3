/**
 * No node of a chain returned a usable response, so the result is unknown. The message contains only the host name of
 * each node and its position in the configuration, because an RPC address may contain an API key.
 */
export class ChainUnavailable extends Error {
  override readonly name: string = 'ChainUnavailable'
}

/**
 * No node returned a result, and at least one node does not have the requested block yet. Another machine has already
 * reported that block, so a retry a moment later will normally succeed.
 */
export class ChainBehind extends ChainUnavailable {
  override readonly name = 'ChainBehind'
}

/** No node returned even the smallest part of what was requested. Either they all fail, or they reject it as too much. */
export class ChainRefusal extends ChainUnavailable {
  override readonly name = 'ChainRefusal'
}

/** Every node has asked us to wait. So no node was asked, or all of them refused because of their rate limit. */
export class ChainBusy extends ChainUnavailable {
  override readonly name = 'ChainBusy'
}

/**
 * A call failed at one node, so the next node is tried. This error is only used inside `chain/`. Callers get
 * `ChainUnavailable`.
 */
export class NodeFault extends Error {
  override readonly name: string = 'NodeFault'
}

/**
 * The node does not have a block yet that another machine has reported. That is normal, so we continue to use the node.
 */
export class NodeBehind extends NodeFault {
  override readonly name = 'NodeBehind'
}

/** The node rejected a request because it contains too many calls. */
export class BatchRefusal extends NodeFault {
  override readonly name = 'BatchRefusal'
}

/**
 * The node ran the call, but the contract's code rejected it. Every node would return the same error. A caller that
 * expects this error handles it before the node counts as failed.
 */
export class CallReverted extends NodeFault {
  override readonly name = 'CallReverted'
}

/** The node is overloaded or limits our rate, and says when to retry. */
export class NodeBusy extends NodeFault {
  override readonly name = 'NodeBusy'
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
