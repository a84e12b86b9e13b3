/**
 * No node of a chain gave a usable answer. What was asked for is unknown, neither true nor false. The message names
 * each node by its place in the configuration and its host name only, since an RPC address may carry an API key.
 */
export class ChainUnavailable extends Error {
  override readonly name = 'ChainUnavailable'
}

/** One node failed one call; the next node is asked. Stays inside this room: callers see `ChainUnavailable`. */
export class NodeFault extends Error {
  override readonly name = 'NodeFault'
}
