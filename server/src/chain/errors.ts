/**
 * No node of a chain gave a usable answer. What was asked for is unknown, neither true nor false. The message names
 * each node by its place in the configuration and its host name only, since an RPC address may carry an API key.
 */
export class ChainUnavailable extends Error {
  override readonly name: string = 'ChainUnavailable'
}

/** No node has the block that was asked about yet, though one of them named it. It will be there in a moment. */
export class ChainBehind extends ChainUnavailable {
  override readonly name = 'ChainBehind'
}

/** One node failed one call; the next node is asked. Stays inside this room: callers see `ChainUnavailable`. */
export class NodeFault extends Error {
  override readonly name: string = 'NodeFault'
}

/** The node has not seen the block yet that its sibling named. Nothing is wrong with it, and it is not left alone. */
export class NodeBehind extends NodeFault {
  override readonly name = 'NodeBehind'
}

/** The node takes fewer calls in one request. */
export class BatchRefusal extends NodeFault {
  override readonly name = 'BatchRefusal'
}

/** The node is overloaded, or limits our rate, and says how long it wants to be left alone. */
export class NodeBusy extends NodeFault {
  override readonly name = 'NodeBusy'
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
