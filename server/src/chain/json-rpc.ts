import { createBoundedFetch, type BoundedFetch } from '../lib/outbound/bounded-fetch.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import { parseJson } from '../lib/parse-json.ts'
import { BodyTooLong } from '../lib/read-body.ts'
import { parseRetryAfterMs } from '../lib/parse-retry-after.ts'
import { BatchRefusal, NodeBusy, NodeFault } from './errors.ts'
import { readBatchRefusal, readCallRefusal } from './refusals.ts'

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

export interface RpcEndpoint extends BoundedFetch {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly host: string
}

/**
 * The longest response that we accept. 100 receipts of large transactions are far shorter. If a response is longer, we
 * close the connection.
 */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024
const PAYLOAD_TOO_LARGE = 413
const INCOMPLETE = 'did not return a complete batch'
/** Statuses that may come with a `Retry-After` header (RFC 9110, section 15.6.4; RFC 6585, section 4). */
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 503])

/**
 * Prepares calls to an RPC address. If the address contains credentials, they become a header, so that no error repeats
 * them. The errors of this function never repeat the address. `close` ends all connections.
 */
export function openEndpoint(rpcUrl: string, proxy: EgressProxy | null): RpcEndpoint {
  if (!URL.canParse(rpcUrl)) throw new TypeError('an RPC address is not a URL')
  const url = new URL(rpcUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError('an RPC address must be http or https')
  // Some providers reject requests without a `User-Agent`.
  const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'Bursar/1' }
  if (url.username !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
    url.username = ''
    url.password = ''
  }
  const { fetch, close } = createBoundedFetch(url.href, { proxy, responseBytesMax: RESPONSE_BYTES_MAX })
  return { url: url.href, headers, host: url.hostname, fetch, close }
}

/**
 * Posts one JSON-RPC 2.0 batch and returns the results in the order of `calls`. If a node rejects one call of the batch
 * (for example because of a rate limit, or a block that it does not have yet), the whole batch fails.
 * @throws NodeFault unless the response is complete. Its message contains neither the address nor the node's own
 * message. There are three special kinds: `BatchRefusal` means that fewer calls may work, `NodeBehind` means that the
 * block is too new, and `NodeBusy` says when to retry.
 */
export async function postBatch(
  endpoint: RpcEndpoint,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<unknown[]> {
  const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
  return pickResults(parseAnswer(await post(endpoint, body, { calls: calls.length, signal })), calls.length)
}

async function post(
  endpoint: RpcEndpoint,
  body: string,
  { calls, signal }: { calls: number; signal: AbortSignal },
): Promise<string> {
  try {
    const { url, headers } = endpoint
    const response = await endpoint.fetch(url, { method: 'POST', headers, body, signal })
    if (response.ok) return await response.text()
    throw await readErrorStatus(response, calls)
  } catch (error) {
    if (error instanceof NodeFault) throw error
    if (error instanceof BodyTooLong) throw new NodeFault('returned too long a body')
    throw new NodeFault(signal.aborted ? 'did not respond in time' : 'cannot be reached', { cause: error })
  }
}

/** Returns the fault that an error status means. */
async function readErrorStatus(response: Response, calls: number): Promise<NodeFault> {
  const { status, headers } = response
  const message = `returned HTTP status ${status}`
  if (BUSY_STATUSES.has(status) || calls === 1) {
    const retryAfterMs = BUSY_STATUSES.has(status) ? parseRetryAfterMs(headers) : null
    return retryAfterMs === null ? new NodeFault(message) : new NodeBusy(message, retryAfterMs)
  }
  if (status === PAYLOAD_TOO_LARGE) return new BatchRefusal(message)
  return findBatchRefusal(await response.text(), calls) ?? new NodeFault(message)
}

function findBatchRefusal(text: string, calls: number): BatchRefusal | null {
  try {
    const refused = findError(parseJson(text))
    const fault = refused === null ? null : readBatchRefusal(refused, { calls })
    return fault instanceof BatchRefusal ? fault : null
  } catch {
    return null
  }
}

function parseAnswer(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new NodeFault('did not return JSON')
  }
}

/** Sorts the responses of a batch, which may come in any order (JSON-RPC 2.0, section 6). */
function pickResults(response: unknown, count: number): unknown[] {
  if (!Array.isArray(response) || response.length !== count) {
    const refused = findError(response)
    throw refused === null ? new NodeFault(INCOMPLETE) : readBatchRefusal(refused, { calls: count })
  }
  const results = Array.from<unknown>({ length: count })
  const seen = new Set<number>()
  for (const entry of response as unknown[]) {
    if (!isRecord(entry)) throw new NodeFault(INCOMPLETE)
    const id = entry['id']
    if (isRecord(entry['error'])) throw readCallRefusal(entry['error'], { calls: count })
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= count || entry['result'] === undefined) {
      throw new NodeFault(INCOMPLETE)
    }
    results[id] = entry['result']
    seen.add(id)
  }
  if (seen.size !== count) throw new NodeFault(INCOMPLETE)
  return results
}

/**
 * Finds the first error in a response. A node that rejects a whole batch returns one object (Erigon, proxyd) or a list
 * with one entry (geth).
 */
function findError(response: unknown): Record<string, unknown> | null {
  for (const entry of Array.isArray(response) ? (response as unknown[]) : [response]) {
    if (isRecord(entry) && isRecord(entry['error'])) return entry['error']
  }
  return null
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
