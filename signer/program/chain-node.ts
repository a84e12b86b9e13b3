import type { ChainNode } from '../src/evidence/judge-chain.ts'

const TIMEOUT_MS = 15_000
/** More than the receipt of any transaction. */
const RESPONSE_BYTES_MAX = 8 * 1024 * 1024

/**
 * Returns a function that calls a node of the chain (JSON-RPC over HTTP). Asks the node only once which chain it is of. Its
 * errors do not contain the address of the node, which may contain a secret.
 */
export function openChainNode(url: string): ChainNode {
  let chainId: Promise<unknown> | null = null
  return async (method, params) => {
    if (method !== 'eth_chainId') return await call(url, method, params)
    chainId ??= call(url, method, params)
    return await chainId
  }
}

async function call(url: string, method: string, params: readonly string[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    // A node must not be able to send this request to another host, such as one of the user's own network.
    redirect: 'error',
  })
  if (!response.ok) throw new Error(`it responded with the status ${response.status}`)
  const text = await readText(response)
  const { result, error } = JSON.parse(text) as { result?: unknown; error?: unknown }
  if (error !== undefined && error !== null) throw new Error('it responded with an error')
  if (result === undefined) throw new Error('its response has no result')
  return result
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > RESPONSE_BYTES_MAX) throw new Error('its response is too long')
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}
