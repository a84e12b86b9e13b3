import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { UnauthorizedError as EarlierUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { MemoryProvider } from './memory-provider.ts'

/** What the tests need of an MCP client. Each package in `MCP_PACKAGES` has a client of its own. */
export interface McpClient {
  connect(): Promise<void>
  /** Completes the authorization after the person has been redirected back to the client. */
  finish(callback: URL): Promise<void>
  version(): string | undefined
  listTools(): Promise<readonly string[]>
  callTool(name: string, args: Readonly<Record<string, unknown>>): Promise<McpAnswer>
  close(): Promise<void>
}

export interface McpAnswer {
  readonly isError: boolean
  readonly content: Readonly<Record<string, unknown>>
}

export interface McpClientOptions {
  readonly url: URL
  readonly provider: MemoryProvider
  /** Sends the client's requests. By default, the `fetch` of Node.js. */
  readonly fetch?: Fetch
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** A published MCP client, and the protocol version that it uses with our server. */
export interface McpPackage {
  readonly name: string
  readonly version: string
  readonly open: (options: McpClientOptions) => McpClient
}

const INFO = { name: 'test', version: '1' }

/** The published MCP clients of TypeScript, unchanged. */
export const MCP_PACKAGES: readonly McpPackage[] = [
  {
    name: '@modelcontextprotocol/client, which discovers',
    version: '2026-07-28',
    open: (options) => openClient(options, 'auto'),
  },
  {
    name: '@modelcontextprotocol/client, which initializes',
    version: '2025-11-25',
    open: (options) => openClient(options, 'legacy'),
  },
  { name: '@modelcontextprotocol/sdk', version: '2025-11-25', open: openEarlierClient },
]

export function isUnauthorized(error: unknown): boolean {
  return error instanceof UnauthorizedError || error instanceof EarlierUnauthorizedError
}

function openClient({ url, provider, ...options }: McpClientOptions, mode: 'auto' | 'legacy'): McpClient {
  const client = new Client(INFO, { versionNegotiation: { mode } })
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider, ...options })
  return {
    connect: () => client.connect(transport),
    finish: (callback) => transport.finishAuth(callback.searchParams),
    version: () => client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: async (name, args) => readAnswer(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  }
}

function openEarlierClient({ url, provider, ...options }: McpClientOptions): McpClient {
  const client = new EarlierClient(INFO)
  const transport = new EarlierTransport(url, { authProvider: provider, ...options })
  return {
    connect: () => client.connect(transport),
    finish: (callback) => transport.finishAuth(String(callback.searchParams.get('code'))),
    version: () => transport.protocolVersion,
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: async (name, args) => readAnswer(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  }
}

function readAnswer(result: Readonly<Record<string, unknown>>): McpAnswer {
  return { isError: result['isError'] === true, content: result['structuredContent'] as McpAnswer['content'] }
}
