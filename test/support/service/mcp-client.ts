import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import { Check } from 'typebox/value'
import { describeTool } from '../../../server/src/mcp/describe-tool.ts'
import { TOOLS } from '../../../server/src/mcp/tools/all-tools.ts'
import type { Answer } from '../http-client.ts'
import type { TestService } from './test-service.ts'

/** The two protocol versions that the tests speak: one with `initialize`, and one without. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2026-07-28'] as const

export type ProtocolVersion = (typeof PROTOCOL_VERSIONS)[number]

export interface McpRequest {
  readonly key?: string
  readonly version?: ProtocolVersion
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
  /**
   * Further headers, as a list in which names and values alternate. They replace protocol headers of the same name. An
   * empty value leaves the header out.
   */
  readonly headers?: readonly string[]
  readonly host?: string
  readonly path?: '/mcp' | '/mcp/'
}

/** The result of a tool's call, as a client receives it. */
export interface CalledTool {
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent: ToolContent
  readonly isError?: boolean
}

export interface ToolContent {
  readonly mode: string
  readonly money: string
  readonly summary?: string
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly next: string
    readonly details?: unknown
  }
  readonly [member: string]: unknown
}

export interface JsonRpcAnswer {
  readonly id?: unknown
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** What a client needs of the service. */
type Endpoint = Pick<TestService, 'call'>

const HOST = 'localhost:4100'
const ACCEPT = 'application/json, text/event-stream'

/** Sends one message as a client of the given protocol version does, and returns the response unchanged. */
export async function sendMcp(given: Endpoint, message: McpRequest): Promise<Answer> {
  const { key, host = HOST, path = '/mcp' } = message
  return await given.call({ path, host, ...(key === undefined ? {} : { key }), ...writeMessage(message) })
}

/** The request with which a client of version 2026-07-28 calls a tool, for a test that sends it itself. */
export function toolRequest(key: string, name: string, args: Readonly<Record<string, unknown>>) {
  const { headers, body } = writeMessage({ method: 'tools/call', params: { name, arguments: args } })
  const pairs = Array.from({ length: headers.length / 2 }, (_, index) => headers.slice(2 * index, 2 * index + 2))
  const common = { host: HOST, authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return { path: '/mcp', headers: { ...common, ...Object.fromEntries(pairs) }, body: JSON.stringify(body) }
}

function writeMessage({ version = '2026-07-28', method, params = {}, headers = [] }: McpRequest) {
  const isModern = version > '2026'
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const named = typeof params['name'] === 'string' ? ['mcp-name', params['name']] : []
  const protocol = [
    'accept',
    ACCEPT,
    'mcp-protocol-version',
    version,
    ...(isModern ? ['mcp-method', method, ...named] : []),
  ]
  const kept = protocol.filter((_, index) => !headers.includes(protocol[index - (index % 2)] ?? ''))
  return {
    headers: [...kept, ...headers].filter((_, index, all) => all[index | 1] !== ''),
    body: { jsonrpc: '2.0', id: 1, method, params: isModern ? { ...params, _meta: meta } : params },
  }
}

/** Reads the JSON-RPC response: the body itself, or the one event of a stream. */
export function readRpc({ headers, text }: Answer): JsonRpcAnswer {
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true
  const json = isStream
    ? text
        .split('\n')
        .find((line) => line.startsWith('data: {'))
        ?.slice('data: '.length)
    : text
  return JSON.parse(json ?? text) as JsonRpcAnswer
}

/** Calls a tool, and checks what every result has: the mode in words, and the structured content also as text. */
export async function callTool(
  given: Endpoint,
  key: string,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  version?: ProtocolVersion,
): Promise<ToolContent & { readonly isError: boolean }> {
  const params = { name, arguments: args }
  const answer = await sendMcp(given, {
    key,
    method: 'tools/call',
    params,
    ...(version === undefined ? {} : { version }),
  })
  assert.equal(answer.status, 200, answer.text)
  const { result, error } = readRpc(answer)
  assert.equal(error, undefined, answer.text)
  const { content, structuredContent, isError = false } = result as unknown as CalledTool
  const tool = TOOLS.find((one) => one.name === name)
  assert.ok(tool !== undefined && Check(tool.output, structuredContent), JSON.stringify(structuredContent))
  assert.ok(new Ajv().validate(describeTool(tool).outputSchema, structuredContent), 'as clients check it')
  assert.equal(content.length, 1)
  assert.deepEqual(JSON.parse(content[0]?.text ?? ''), structuredContent)
  assert.equal(isError, structuredContent.error !== undefined)
  const money = { test: 'test money, without value', live: 'live money, with real value' }[structuredContent.mode]
  assert.equal(structuredContent.money, money)
  return { ...structuredContent, isError }
}
