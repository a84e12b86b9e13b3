import { RPC_TIMEOUT_MS } from './limit.ts'

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
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  const answer: unknown = await response.json()
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
