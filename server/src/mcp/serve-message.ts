import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { Context } from '../domain/context.ts'
import { toJsonResponse, type AcceptedTypes } from './accepted-types.ts'
import { describeTool } from './describe-tool.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { rejectedResult, runTool } from './run-tool.ts'
import type { Background, ToolCaller } from './tool.ts'
import { TOOLS } from './tools/all-tools.ts'
import { VERSION } from '../lib/version.ts'
import type { Problem } from '../values/problem.ts'

const SERVER_INFO = { name: 'bursar', title: 'Bursar', version: VERSION }
/** The tools are the same for every caller, and change only with a new version of the service. */
const TOOLS_CACHE = { ttlMs: 5 * 60_000, cacheScope: 'public' } as const

export interface McpCall {
  readonly request: Request
  /** The parsed body. Undefined if it is not JSON. Then the MCP library responds with an error. */
  readonly body: unknown
  readonly accepted: AcceptedTypes
  readonly caller: ToolCaller
  /**
   * Why the call of a tool is rejected: the caller is over its rate limit, or does not have the scope. Otherwise null.
   */
  readonly rejection: Problem | null
  /** Aborted when the client has left, or when the service stops. Then a tool stops waiting. */
  readonly left: AbortSignal
  /** Called when a tool begins to wait for a payment. */
  readonly onWait: () => void
  readonly background: Background
}

/**
 * Responds to one message. One handler serves both kinds of protocol version: 2026-07-28, and the earlier ones that
 * begin with `initialize`. No state is kept between requests, so any process can respond to any of them (decision
 * 0036).
 */
export async function serveMessage(ctx: Context, call: McpCall): Promise<Response> {
  const { accepted } = call
  const handler = createMcpHandler(() => createServer(ctx, call), {
    maxSubscriptions: 0,
    // Of the newest protocol version. The earlier ones always get a stream.
    responseMode: accepted.stream && !accepted.json ? 'sse' : 'auto',
    onerror: (error) => ctx.logger.debug({ err: error }, 'an MCP message was rejected'),
  })
  const response = await handler.fetch(call.request, call.body === undefined ? {} : { parsedBody: call.body })
  return accepted.stream ? response : await toJsonResponse(response)
}

function createServer(ctx: Context, { caller, rejection, left, onWait, background }: McpCall): Server {
  const server = new Server(SERVER_INFO, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    cacheHints: { 'tools/list': TOOLS_CACHE, 'server/discover': TOOLS_CACHE },
  })
  server.setRequestHandler('tools/list', () => ({ tools: DESCRIPTIONS }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name)
    if (tool === undefined) {
      const names = TOOLS.map(({ name }) => name).join(', ')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no such tool. The tools are ${names}.`)
    }
    if (rejection !== null) return rejectedResult(tool, rejection, caller.mode)
    return await runTool(ctx, { tool, caller, args: params.arguments ?? {}, left, onWait, background })
  })
  return server
}

const DESCRIPTIONS = TOOLS.map(describeTool)
