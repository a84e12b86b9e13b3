/** The id of a JSON-RPC request. */
export type MessageId = string | number

/** What the bridge must know of a message. Everything else is passed on unread. */
export interface Message {
  /** Null for a notification, which gets no response. */
  readonly id: MessageId | null
  readonly method: string | null
  readonly params: Readonly<Record<string, unknown>>
}

export const RPC_ERROR = { parse: -32_700, invalidRequest: -32_600, internal: -32_603, unauthorized: -32_001 } as const

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

/** Parses a line. Returns null if it is not a single JSON-RPC message. */
export function parseMessage(line: string): Message | null {
  const value = parseJson(line)
  if (!isObject(value)) return null
  const { id, method, params } = value
  return {
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    method: typeof method === 'string' ? method : null,
    params: isObject(params) ? params : {},
  }
}

/**
 * Returns the headers of the protocol. A client of version 2026-07-28 names the version in each message. The headers
 * repeat this version, and the method and name of the message. An earlier client agrees on a version with `initialize`:
 * `agreed` is that version.
 */
export function protocolHeaders({ method, params }: Message, agreed: string | null): Record<string, string> {
  const meta = params['_meta']
  const named = isObject(meta) ? meta[VERSION_KEY] : undefined
  if (typeof named !== 'string') return agreed === null ? {} : { 'mcp-protocol-version': agreed }
  const name = params[NAMED_BY[method ?? ''] ?? '']
  return {
    'mcp-protocol-version': named,
    ...(method === null ? {} : { 'mcp-method': encodeHeader(method) }),
    ...(typeof name === 'string' ? { 'mcp-name': encodeHeader(name) } : {}),
  }
}

/** Returns the version that the server has chosen, if the text is the result of `initialize`. */
export function agreedVersion(text: string): string | null {
  const value = parseJson(text)
  const result = isObject(value) ? value['result'] : undefined
  const version = isObject(result) ? result['protocolVersion'] : undefined
  return typeof version === 'string' ? version : null
}

/** Formats a response of the bridge itself. `id` is null if the request could not be read. */
export function formatRpcError(id: MessageId | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
}

/** Returns whether the text is the response to a request: its result, or the server's error. */
export function isResponse(text: string, id: MessageId | null): boolean {
  const value = parseJson(text)
  if (!isObject(value) || value['jsonrpc'] !== '2.0' || value['id'] !== id) return false
  return 'result' in value || 'error' in value
}

/** Encodes a value that is not plain ASCII, in the form that the protocol defines. */
function encodeHeader(value: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith('=?base64?')
  return isPlain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
