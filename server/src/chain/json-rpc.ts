import { NodeFault } from './errors.ts'

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

export type RpcEndpoint = { readonly url: string; readonly headers: Readonly<Record<string, string>> }

/** 100 receipts of crowded transactions stay far below; a node that streams without end is cut off. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024

/**
 * Splits an RPC address into what `fetch` takes. Credentials in the address become a header, since `fetch` refuses such
 * an address with a message that repeats it. The errors of this function do not repeat it either.
 */
export function parseEndpoint(rpcUrl: string): RpcEndpoint & { readonly host: string } {
  if (!URL.canParse(rpcUrl)) throw new TypeError('an RPC address is not a URL')
  const url = new URL(rpcUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError('an RPC address is not http or https')
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (url.username !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
    url.username = ''
    url.password = ''
  }
  return { url: url.href, headers, host: url.hostname }
}

/**
 * Posts one JSON-RPC 2.0 batch and returns the results in the order of `calls`. All or nothing: a node that refuses one
 * call of a batch (rate limit, a block that it has not seen yet) is as useless for the batch as one that is gone.
 * @throws NodeFault for whatever is not a complete answer; its message carries neither the address nor the node's words.
 */
export async function postBatch(
  endpoint: RpcEndpoint,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<unknown[]> {
  const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
  return pickResults(parseJson(await post(endpoint, body, signal)), calls.length)
}

async function post(endpoint: RpcEndpoint, body: string, signal: AbortSignal): Promise<string> {
  let response: Response
  try {
    response = await fetch(endpoint.url, { method: 'POST', headers: endpoint.headers, body, signal, redirect: 'error' })
    if (response.ok) return await readText(response)
  } catch (error) {
    if (error instanceof NodeFault) throw error
    throw new NodeFault(signal.aborted ? 'did not answer in time' : 'cannot be reached', { cause: error })
  }
  // An unread body would hold its connection until it is collected.
  await response.body?.cancel().catch(() => undefined)
  throw new NodeFault(`answered with HTTP status ${response.status}`)
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > ANSWER_BYTES_MAX) throw new NodeFault('answered with too long a body')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NodeFault('did not answer in JSON')
  }
}

/** The answers of a batch may come in any order (JSON-RPC 2.0, section 6). */
function pickResults(answer: unknown, count: number): unknown[] {
  if (!Array.isArray(answer) || answer.length !== count) throw new NodeFault('did not answer the batch')
  const results = Array.from<unknown>({ length: count })
  const seen = new Set<number>()
  for (const entry of answer as unknown[]) {
    if (!isRecord(entry)) throw new NodeFault('did not answer the batch')
    const id = entry['id']
    if (isRecord(entry['error'])) throw new NodeFault(`refused the call with code ${readCode(entry['error'])}`)
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= count || entry['result'] === undefined) {
      throw new NodeFault('did not answer the batch')
    }
    results[id] = entry['result']
    seen.add(id)
  }
  if (seen.size !== count) throw new NodeFault('did not answer the batch')
  return results
}

function readCode(error: Record<string, unknown>): string {
  return typeof error['code'] === 'number' ? String(error['code']) : 'unknown'
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
