import { isUtf8 } from 'node:buffer'
import { bodyTooDeep } from '../http/to-problem.ts'
import { isTooDeep, parseJson } from '../lib/parse-json.ts'
import { Problem } from '../values/problem.ts'

/** What we read from a request before the MCP SDK handles it. */
export interface ReadMessage {
  /** The parsed body. Undefined if the body is empty or is not JSON. */
  readonly body: unknown
  /** Whether the body is a batch: a list of messages (protocol version 2025-03-26). */
  readonly isBatch: boolean
  /** The name of the tool that is called. Null for every other message. */
  readonly toolName: string | null
  /** The arguments of this call, as the model wrote them. */
  readonly toolArguments: unknown
}

/**
 * Reads the body of a request far enough to know which tool it calls, and so which scope and rate limit apply. Throws
 * 400 if the body is not UTF-8, or is nested too deeply. Everything else that is wrong with a body is left to the
 * protocol's own code.
 */
export function readMessage(bytes: unknown): ReadMessage {
  if (!Buffer.isBuffer(bytes)) return { body: undefined, isBatch: false, ...NO_CALL }
  if (!isUtf8(bytes)) throw new Problem('validation_failed', 'The body is not valid UTF-8.')
  const text = bytes.toString('utf8')
  if (isTooDeep(text)) throw bodyTooDeep()
  const body = parseMessage(text)
  return { body, isBatch: Array.isArray(body), ...readCall(body) }
}

function parseMessage(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

const NO_CALL = { toolName: null, toolArguments: undefined } as const

function readCall(body: unknown): Pick<ReadMessage, 'toolName' | 'toolArguments'> {
  if (typeof body !== 'object' || body === null || !('method' in body) || body.method !== 'tools/call') return NO_CALL
  if (!('params' in body) || typeof body.params !== 'object' || body.params === null) return NO_CALL
  const { params } = body
  if (!('name' in params) || typeof params.name !== 'string') return NO_CALL
  return { toolName: params.name, toolArguments: 'arguments' in params ? params.arguments : undefined }
}
