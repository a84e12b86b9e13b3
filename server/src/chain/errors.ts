/**
 * No node of a chain returned a usable response, so nothing is known. The message names each node only by its position in
 * the configuration and its host name, because an RPC address may contain an API key.
 */
export class ChainUnavailable extends Error {
  override readonly name: string = 'ChainUnavailable'
}

/** No node has the requested block yet, although one of them reported it. It will be there in a moment. */
export class ChainBehind extends ChainUnavailable {
  override readonly name = 'ChainBehind'
}

/** A call failed at one node, so the next node is tried. Used inside `chain/` only: callers get `ChainUnavailable`. */
export class NodeFault extends Error {
  override readonly name: string = 'NodeFault'
}

/** The node does not have a block yet that another machine has reported. That is no fault, so the node stays in service. */
export class NodeBehind extends NodeFault {
  override readonly name = 'NodeBehind'
}

/** The node accepts only fewer calls in one request. */
export class BatchRefusal extends NodeFault {
  override readonly name = 'BatchRefusal'
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
