import { RPC_TIMEOUT_MS } from './limit.ts'
import { postToNode } from './post-to-node.ts'

type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

/**
 * Makes one JSON-RPC call to a local node and returns its `result`.
 *
 * @throws Error with the node's message if the node rejects the call, or an Error if the node does not respond in time.
 */
export const callRpc = async (
  rpcUrl: string,
  method: string,
  params: readonly unknown[] = [],
  timeoutMs: number = RPC_TIMEOUT_MS,
): Promise<unknown> => {
  const answer = await postToNode(rpcUrl, { jsonrpc: '2.0', id: 1, method, params }, timeoutMs)
  return readResult(method, answer)
}

/**
 * Makes several calls in one request, and returns their results in order. The node may make them in any order.
 *
 * @throws Error as `callRpc` does, if the node rejects any of the calls.
 */
export const callRpcBatch = async (rpcUrl: string, calls: readonly RpcCall[]): Promise<unknown[]> => {
  const requests = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  const answers: unknown = await postToNode(rpcUrl, requests, RPC_TIMEOUT_MS)
  if (!Array.isArray(answers)) throw new Error("the node's response to a batch is not a list")
  const byId = new Map((answers as { id?: unknown }[]).map((answer) => [answer.id, answer]))
  return calls.map(({ method }, id) => readResult(method, byId.get(id)))
}

const readResult = (method: string, answer: unknown): unknown => {
  if (typeof answer !== 'object' || answer === null) throw new Error(`${method}: the node's response is not an object`)
  if ('error' in answer) throw new Error(`${method}: ${readMessage(answer.error)}`)
  return 'result' in answer ? answer.result : undefined
}

/** Makes a call whose result is a number, such as a block number. */
export const callRpcNumber = async (rpcUrl: string, method: string, params: readonly unknown[] = []): Promise<number> =>
  Number(await callRpcString(rpcUrl, method, params))

/** Makes a call whose result is a hex string. @throws Error if the node returns anything else. */
export const callRpcString = async (
  rpcUrl: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<string> => {
  const result = await callRpc(rpcUrl, method, params)
  if (typeof result !== 'string') throw new Error(`${method}: the node's response is not a string`)
  return result
}

const readMessage = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : JSON.stringify(error)
