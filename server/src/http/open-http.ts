import { isUtf8 } from 'node:buffer'
import { createServer, IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, {
  LogController,
  type FastifyBodyParser,
  type FastifyContentTypeParser,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { Clock } from '../lib/clock.ts'
import { FailureLog } from '../lib/failure-log.ts'
import { isTooDeep } from '../lib/parse-json.ts'
import { createSortableId } from '../lib/ids.ts'
import type { Logger } from '../lib/logger.ts'
import { NOT_MEASURED, type Measurements } from '../lib/measurements.ts'
import { openPools, type Pools } from '../lib/pools.ts'
import { Problem, problem } from '../values/problem.ts'
import { ArrivingBodies, readArrivedBody } from './arriving-bodies.ts'
import { compileOnDemand } from './compile-on-demand.ts'
import { DrainingAnswers } from './draining-answers.ts'
import {
  CONNECTIONS_CHECK_MS,
  CONNECTIONS_MAX,
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  PATH_PARAMETER_CHARS_MAX,
  REQUEST_TIMEOUT_MS,
  STRICT_TRANSPORT_SECONDS,
} from './limits.ts'
import { OverloadGate } from './overload-gate.ts'
import { NO_SNIFFING, rejectBrokenRequest, sendProblem } from './send-problem.ts'
import { createSummedLine } from './summed-line.ts'
import { bodyTooDeep, toProblem } from './to-problem.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readonly arrivingBodies: ArrivingBodies
    readonly drainingAnswers: DrainingAnswers
    readonly failures: FailureLog
    /** Whether the process is about to stop. Then it tells load balancers, and closes connections after a response. */
    readonly shutdown: { hasBegun: boolean }
  }
  interface FastifyRequest {
    /** The body of a request in JSON, as it was received. The parsed body does not have its numbers as they were written. */
    jsonText: string
    /** The code of the error with which we respond, or empty. For the log and the metrics. */
    errorCode: string
    /** The workspace of the request, once its credential or session was checked, or empty. For the log. */
    workspaceId: string
  }
}

export type HttpServer = ReturnType<typeof openHttp>

export interface HttpOptions {
  readonly production: boolean
  readonly trustedProxies: readonly string[]
  /** After how many milliseconds a client is disconnected that reads nothing. Only tests set it. */
  readonly stallMs?: number
}

const TOO_MANY_REQUESTS = 429
const HOST_PATTERN = /^host$/i
/** Paths that load balancers may call over plain HTTP. Requests to these paths contain no credentials. */
const PLAIN_HTTP_PATHS: readonly string[] = ['/healthz', '/readyz']

/**
 * Opens the HTTP server to which the API, the authorization server and the dashboard add their routes. It defines body
 * parsing, limits, error responses, `Request-Id` and HTTPS only (D3, D4), and logs one line per request.
 */
export function openHttp(
  options: HttpOptions,
  {
    clock,
    logger,
    failures = new FailureLog(logger),
    pools = openPools(),
    measurements = NOT_MEASURED,
  }: { clock: Clock; logger: Logger; failures?: FailureLog; pools?: Pools; measurements?: Measurements },
) {
  const http = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // To create a logger for each request would cost more than to parse the request. It is not needed, because our log
    // lines name the request.
    childLoggerFactory: (parent) => parent,
    genReqId: () => `req_${createSortableId(clock.now())}`,
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    routerOptions: { maxParamLength: PATH_PARAMETER_CHARS_MAX },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // With `verbose`, an error contains the schema, whose example our message shows.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: true,
        verbose: true,
        // A test checks all schemas. To check them here would take a twentieth of the start.
        validateSchema: false,
      },
    },
    schemaController: { compilersFactory: compileOnDemand() },
    serverFactory: (handler) => createHttpServer(handler, { clock }),
    frameworkErrors: (error, request, reply) => {
      void reply.header('Request-Id', request.id).header(...NO_SNIFFING)
      sendProblem(reply, toProblem(error))
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  const overloadGate = new OverloadGate({ clock, logger, pools, measurements })
  const arrivingBodies = new ArrivingBodies(overloadGate.groupOf, pools.arrivingBodies)
  const drainingAnswers = new DrainingAnswers(overloadGate.groupOf, pools.unreadAnswers, options.stallMs)
  http.decorate('overloadGate', overloadGate)
  http.decorate('arrivingBodies', arrivingBodies)
  http.decorate('drainingAnswers', drainingAnswers)
  http.decorate('failures', failures)
  http.decorate('shutdown', { hasBegun: false })
  // These are properties of the request, because a `WeakMap` with requests as keys would keep every request in memory
  // until the next collection of the old generation (decision 0038).
  http.decorateRequest('ticket', null)
  http.decorateRequest('trace', null)
  http.decorateRequest('submissionTicket', null)
  http.decorateRequest('isTurnedAway', false)
  http.decorateRequest('arrivedBody', null)
  http.decorateRequest('isBodyTooLarge', false)
  http.decorateRequest('jsonText', '')
  http.decorateRequest('errorCode', '')
  http.decorateRequest('workspaceId', '')
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('application/json', createJsonParser(http))
  // These hooks run for every request. With a callback, they cost less than async functions.
  http.addHook('onRequest', (request, reply, done) => {
    void reply.header('Request-Id', request.id).header(...NO_SNIFFING)
    if (http.shutdown.hasBegun) void reply.header('Connection', 'close')
    if (!namesOneHost(request.raw)) {
      done(new Problem('validation_failed', 'The request must have exactly one Host header.'))
      return
    }
    if (options.production) {
      void reply.header('Strict-Transport-Security', `max-age=${STRICT_TRANSPORT_SECONDS}; includeSubDomains`)
    }
    done(options.production && isPlainRequest(request) ? problem('https_required') : undefined)
  })
  http.addHook('onRequest', arrivingBodies.hook)
  http.addHook('onSend', drainingAnswers.hook)
  const logLimited = createSummedLine((count, example) => {
    logger.info({ count, example }, 'requests were over their rate limit')
  })
  http.addHook('onResponse', (request, reply, done) => {
    const isLimited = reply.statusCode === TOO_MANY_REQUESTS
    if (isLimited) logLimited(request.id)
    const isQuiet = (request.method === 'GET' && reply.statusCode < 400) || request.isTurnedAway || isLimited
    const level = isQuiet ? 'debug' : 'info'
    if (logger.isLevelEnabled(level)) logger[level](describeRequest(request, reply), 'request')
    measurements.requestEnded({
      id: request.id,
      trace: request.trace,
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      code: request.errorCode,
      ms: reply.elapsedTime,
    })
    done()
  })
  http.setErrorHandler((error, request, reply) => {
    const answer = toProblem(error)
    sendProblem(reply, answer)
    if (answer.status >= 500) logFailure(request, answer)
  })
  http.setNotFoundHandler((_request, reply) => {
    sendProblem(reply, new Problem('not_found', 'There is no endpoint at this path.'))
  })
  return http
}

/**
 * Creates a server for one port, with its limits and its response to requests that are not valid HTTP. Each further
 * port needs a further server (D1, D1a). `messages` is the class of its requests.
 */
export function createHttpServer(
  handler: RequestListener,
  { clock, messages = IncomingMessage }: { clock: Clock; messages?: typeof IncomingMessage },
): Server {
  const server = createServer(
    {
      IncomingMessage: messages,
      maxHeaderSize: HEADER_BYTES_MAX,
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Node's own response would not have our error format, so our first hook checks the `Host` header instead.
      requireHostHeader: false,
    },
    handler,
  )
  // Values of the `Expect` header other than `100-continue` are ignored, as a server may do (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handler)
  server.maxConnections = CONNECTIONS_MAX
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => rejectBrokenRequest(error, socket, clock))
  return server
}

/** Returns whether a request must use HTTPS but does not. */
function isPlainRequest({ protocol, url }: FastifyRequest): boolean {
  return protocol !== 'https' && !PLAIN_HTTP_PATHS.includes(url)
}

/** Returns the route's pattern and not the URL, because a path or a query can contain secrets. */
function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown'
}

/** Logs the error of a request that failed on our side. The gate logs those that it turns away. */
export function logFailure(
  request: FastifyRequest,
  fault: { readonly message: string; readonly cause?: unknown },
): void {
  if (request.isTurnedAway) return
  const { id, errorCode: code, server } = request
  const { message, cause: error = fault } = fault
  server.failures.add({ where: routeOf(request), code, message, request: id, error })
}

/** Returns a request's line in the log. */
function describeRequest(request: FastifyRequest, reply: FastifyReply) {
  return {
    request: request.id,
    method: request.method,
    route: routeOf(request),
    status: reply.statusCode,
    code: request.errorCode === '' ? undefined : request.errorCode,
    workspace: request.workspaceId === '' ? undefined : request.workspaceId,
    ms: Math.round(reply.elapsedTime * 10) / 10,
  }
}

/**
 * Returns whether a request has exactly one `Host` header. An HTTP/1.0 request may have none. Other requests are
 * rejected (RFC 9112, section 3.2).
 */
function namesOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (HOST_PATTERN.test(rawHeaders[index] ?? '')) hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

/** JSON must be UTF-8 (RFC 8259, section 8.1). A lenient parser would change an agent's id or a memo without notice. */
function createJsonParser(http: Pick<FastifyInstance, 'getDefaultJsonParser'>): FastifyContentTypeParser {
  const parse = http.getDefaultJsonParser('error', 'error') as FastifyBodyParser<string>
  return (request, _payload, done) => {
    const body = readArrivedBody(request)
    if (!isUtf8(body)) throw new Problem('validation_failed', 'The body is not valid UTF-8.')
    const text = body.toString('utf8')
    if (isTooDeep(text)) throw bodyTooDeep()
    request.jsonText = text
    return parse(request, text, done)
  }
}
