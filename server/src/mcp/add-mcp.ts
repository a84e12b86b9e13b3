import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../domain/context.ts'
import { readArrivedBody } from '../http/arriving-bodies.ts'
import { addOtherMethods } from '../http/add-other-methods.ts'
import { allowCrossOrigin } from '../http/cross-origin.ts'
import { MCP_PATH, originOf, type Origins, type ResourcePath } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { leaveWork } from '../http/overload-gate.ts'
import { createRequestSignals } from '../http/request-signals.ts'
import { setRetryAfter } from '../http/set-retry-after.ts'
import type { Problem } from '../values/problem.ts'
import { BOTH_TYPES, readAccepted, type AcceptedTypes } from './accepted-types.ts'
import { createSiteCheck } from './check-site.ts'
import { readMessage } from './read-message.ts'
import type { Background, Tool, ToolCaller } from './tool.ts'
import { TOOLS } from './tools/all-tools.ts'

/** What a message requires of the credential, as `api/authenticate.ts` checks it. */
export type McpRequirements = Tool['requirements'] & { readonly resourcePath: ResourcePath }

export interface McpOptions extends Origins {
  /**
   * Authenticates a request as `/v1` does, sets the same headers, and throws 401 or 403. Two errors are not thrown, but
   * returned as `rejection`, and the call of a tool gets them as its result: a 429, and the 403 of an API key without
   * the scope.
   */
  identifyCaller(
    request: FastifyRequest,
    reply: FastifyReply,
    requirements: McpRequirements,
  ): Promise<{ readonly caller: ToolCaller; readonly rejection: Problem | null }>
}

/** For a message that calls no tool, any scope is enough. It counts against the same bucket as the reads of `/v1`. */
const REQUIREMENTS: Tool['requirements'] = { bucket: 'default' }
/** The headers that the protocol reads. In particular, the credential is not passed on. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']
const INVALID_REQUEST = -32_600
const SERVER_ERROR = -32_000

/**
 * Adds the MCP server at `/mcp`, on both hosts (D71), and at `/mcp/`, because people often write the address with a
 * slash. A request is authenticated before the protocol's own code gets it. The called tool decides the scope and the
 * rate limit, so the body (at most 64 KiB) is read before authentication.
 */
export async function addMcp(http: HttpServer, ctx: Context, options: McpOptions): Promise<void> {
  await http.register(async (scope: HttpServer) => {
    const signalOf = createRequestSignals(scope)
    const background = createBackground(scope)
    allowCrossOrigin(scope)
    scope.addHook('onRequest', createSiteCheck(options))
    scope.addHook('onRequest', scope.overloadGate.hook)
    // The body stays bytes: the caller is authenticated first, and the protocol has its own response to malformed JSON.
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser('application/json', async (request: FastifyRequest) => readArrivedBody(request))
    for (const url of [MCP_PATH, `${MCP_PATH}/`]) {
      addOtherMethods(scope, url, { allowed: ['POST'], besides: ['GET', 'DELETE', 'OPTIONS'], reject: rejectMethod })
      scope.route({
        // There are no streams that a GET could open, and no sessions that a DELETE could end. Both methods get 405. They
        // need a credential, because clients also send a GET to learn from its 401 how to connect.
        method: ['POST', 'GET', 'DELETE'],
        url,
        exposeHeadRoute: false,
        schema: { hide: true },
        handler: respond,
      })
    }

    async function respond(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
      const message = readMessage(request.body)
      const tool = TOOLS.find(({ name }) => name === message.toolName)
      const requirements: McpRequirements = {
        ...(tool?.requirements ?? REQUIREMENTS),
        ...tool?.requirementsOf?.(message.toolArguments),
        resourcePath: MCP_PATH,
      }
      const { caller, rejection } = await options.identifyCaller(request, reply, requirements)
      if (rejection !== null && tool === undefined) throw rejection
      if (message.isBatch) return await reply.code(400).send(BATCH_REJECTED)
      setRetryAfter(reply, rejection?.retryAfterSeconds)
      // Loaded with the first message: the protocol's code costs 0.1 s and 30 MB, which not every process needs.
      const { serveMessage } = await import('./serve-message.ts')
      const accepted = readAccepted(request.headers.accept)
      const response = await serveMessage(ctx, {
        request: toWebRequest(request, originOf(request, options), accepted),
        body: message.body,
        accepted,
        caller,
        rejection,
        left: signalOf(reply),
        onWait: () => leaveWork(request),
        background,
      })
      // The headers of the MCP package must not replace our own `cache-control` and `connection`. With its
      // `connection`, every connection would be kept open.
      for (const name of ['cache-control', 'connection']) response.headers.delete(name)
      if (response.status === 405) void reply.header('Allow', 'POST')
      // The whole response is read first, so the tool has ended when the request gives its place back.
      const body = response.body === null ? undefined : Buffer.from(await response.arrayBuffer())
      return await reply.code(response.status).headers(Object.fromEntries(response.headers)).send(body)
    }
  })
}

/** Responds to a method that no message uses, as the MCP package does. */
function rejectMethod(reply: FastifyReply, allow: string): FastifyReply {
  const error = { code: SERVER_ERROR, message: 'Method not allowed.' }
  return reply.code(405).header('Allow', allow).send({ jsonrpc: '2.0', error, id: null })
}

/**
 * The response to a batch, which is a list of messages. Only protocol version 2025-03-26 has batches, and no client
 * needs them. A request contains one message, so that the rate limits count every call.
 */
const BATCH_REJECTED = {
  jsonrpc: '2.0',
  id: null,
  error: { code: INVALID_REQUEST, message: 'Send one message per request. Batches are not supported.' },
}

/** Keeps track of work that continues after its request has ended. When the service stops, it waits for this work. */
function createBackground(scope: HttpServer): Background {
  const stopping = new AbortController()
  const works = new Set<Promise<unknown>>()
  scope.addHook('preClose', async () => stopping.abort())
  scope.addHook('onClose', async () => {
    await Promise.all(works)
  })
  return {
    stopping: stopping.signal,
    keep(work) {
      works.add(work)
      void work.finally(() => works.delete(work))
    },
  }
}

function toWebRequest(request: FastifyRequest, origin: string, { json, stream }: AcceptedTypes): Request {
  const headers = new Headers()
  for (const name of PROTOCOL_HEADERS) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  // For us, one of the two types is enough.
  if (json || stream) headers.set('accept', BOTH_TYPES)
  const body = Buffer.isBuffer(request.body) ? { body: request.body.toString('utf8') } : {}
  return new Request(origin + MCP_PATH, { method: request.method, headers, ...body })
}
