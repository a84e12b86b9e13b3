import {
  request as requestHttp,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Clock } from '../clock.ts'
import { decodeBody, parseEncodings } from './decode-body.ts'
import type { Agents, ConnectionScope } from './agents.ts'
import { isReset, nameError, type OutboundError } from './outbound-error.ts'
import type { OutboundRules } from './policy.ts'

/** Node's default. It is set explicitly so that Node's option `--max-http-header-size` cannot raise it. */
const ANSWER_HEADER_BYTES_MAX = 16 * 1024

/** No honest encoding makes a body so many times longer. */
const ENCODED_GROWTH_MAX = 2

/** What is needed to send requests to URLs that users have chosen. */
export interface Outbound {
  readonly policy: OutboundRules
  readonly clock: Clock
  readonly agents: Agents
}

export interface SentRequest extends ConnectionScope {
  /**
   * `pooled`, the default: the request may use a kept connection, and is sent again if the receiver had closed that
   * connection. `new`: the request gets a connection of its own, and is sent once.
   */
  readonly connection?: 'pooled' | 'new'
  readonly method: string
  /** A `user-agent` must be in lower case. Ours is added to it. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent byte for byte. Null if the request has no body. */
  readonly body: Buffer | null
  /** The time limit of the whole request: name resolution, connection, headers and body (D45). */
  readonly timeoutMs: number
  /** At most this many bytes of the decoded response body are read. The request does not wait for the rest. */
  readonly responseBytesMax: number
  /** Ends the request early. The answer is then the same as after `timeoutMs`. */
  readonly signal?: AbortSignal | undefined
  /** Called when the request has ended. */
  readonly onEnd?: (report: SentReport) => void
}

/** What is known about a request that has ended. It contains nothing that was sent but the host and the method. */
export interface SentReport {
  readonly host: string
  readonly method: string
  /** Null if no response headers arrived. */
  readonly status: number | null
  /** How much of the response's body was read. */
  readonly responseBytes: number
  readonly sentAt: Date
}

export interface Answer {
  /** The HTTP status, even if the response failed after its headers had arrived. Null if no headers arrived. */
  readonly statusCode: number | null
  /** Empty if no headers arrived. If the body was decoded, the headers about its encoded form are left out. */
  readonly headers: IncomingHttpHeaders
  /**
   * Null if the response arrived, to its end or to `responseBytesMax`. Otherwise the reason why it did not. If its body
   * broke off, that is `timeout`, `connection_reset` or `invalid_response`.
   */
  readonly error: OutboundError | null
  /** The body, decoded if it had an encoding that we know (`gzip`, `deflate`, `br`). Null if no headers arrived. */
  readonly responseBody: Buffer | null
  /** Whether the whole response arrived. False if it broke off, and if it is longer than `responseBytesMax`. */
  readonly isComplete: boolean
}

/**
 * Sends a request to a URL that the caller has checked, and returns the answer. Failures of the receiver are returned
 * as answers, not thrown. Redirects are not followed, and no cookies, credentials or proxies are used. The header
 * `User-Agent` says that the request is ours, and whom to contact about it (D94).
 */
export async function sendRequest(
  { agents, policy, clock }: Outbound,
  url: URL,
  { headers, onEnd, ...rest }: SentRequest,
): Promise<Answer> {
  const sentAt = clock.now()
  const request = { ...rest, headers: { ...headers, 'user-agent': userAgentOf(headers['user-agent'], policy) } }
  const deadline = new AbortController()
  const end = (): void => deadline.abort()
  const timer = setTimeout(end, request.timeoutMs)
  request.signal?.addEventListener('abort', end)
  if (request.signal?.aborted === true) end()
  try {
    const { connection = 'pooled', method } = request
    const first = await exchange(url, request, { agent: agents.pick(url, connection), signal: deadline.signal })
    const again =
      first === 'stale'
        ? await exchange(url, request, { agent: agents.pick(url, 'new'), signal: deadline.signal })
        : first
    const answer = again === 'stale' ? withoutAnswer('connection_reset') : again
    const { statusCode: status, responseBody } = answer
    onEnd?.({ host: url.host, method, status, responseBytes: responseBody?.length ?? 0, sentAt })
    return answer
  } finally {
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', end)
  }
}

/** Returns the caller's own words, if there are any, and then ours. */
function userAgentOf(own: string | undefined, { contact }: OutboundRules): string {
  return `${own === undefined ? '' : `${own} `}Bursar/1 (+${contact})`
}

/**
 * Makes one request. Returns `stale` if the receiver had closed a pooled connection, most likely before the request
 * reached it.
 */
async function exchange(
  url: URL,
  { method, headers, body, responseBytesMax, connectionsOf }: SentRequest,
  { agent, signal }: { agent: ReturnType<Agents['pick']>; signal: AbortSignal },
): Promise<Answer | 'stale'> {
  const { promise, resolve } = Promise.withResolvers<Answer | 'stale'>()
  const options: RequestOptions & ConnectionScope = {
    method,
    connectionsOf,
    headers: body === null ? headers : { ...headers, 'content-length': body.length },
    agent,
    signal,
    maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
    insecureHTTPParser: false,
  }
  const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options)
  let hasAnswer = false
  /** What is wrong with the body, if the connection did not just end. */
  let bodyError: OutboundError | null = null
  sent.on('error', (error) => {
    if (hasAnswer) bodyError = nameError(error, url)
    else if (signal.aborted) resolve(withoutAnswer('timeout'))
    else resolve(sent.reusedSocket && isReset(error) ? 'stale' : withoutAnswer(nameError(error, url)))
  })
  // We never ask the receiver to switch protocols, so its response is not valid if it switches.
  sent.on('upgrade', (_answer, socket) => {
    socket.destroy()
    resolve(withoutAnswer('invalid_response'))
  })
  sent.on('response', (answer) => {
    hasAnswer = true
    const nameBreak = (): OutboundError => (signal.aborted ? 'timeout' : (bodyError ?? 'connection_reset'))
    collect(answer, { sent, nameBreak, responseBytesMax }, resolve)
  })
  sent.end(body ?? undefined)
  return await promise
}

/**
 * Collects a response whose headers have arrived, to its end or to `responseBytesMax`. If it breaks off before,
 * `nameBreak` returns the reason.
 */
function collect(
  answer: IncomingMessage,
  {
    sent,
    nameBreak,
    responseBytesMax,
  }: { sent: ClientRequest; nameBreak: () => OutboundError; responseBytesMax: number },
  resolve: (answer: Answer) => void,
): void {
  const { statusCode = null, headers } = answer
  const encodings = parseEncodings(headers['content-encoding'])
  const parts: Buffer[] = []
  let size = 0
  /** An encoded body as it was sent, as long as nothing of it is decoded. If nothing can be, it stays so. */
  let sentParts: Buffer[] = []
  let hasEnded = false
  const finish = (end: Pick<Answer, 'error' | 'isComplete'>): void => {
    const isDecoded = encodings.length > 0 && (size > 0 || (end.isComplete && sentParts.length > 0))
    const responseBody = Buffer.concat(isDecoded ? parts : [...sentParts, ...parts]).subarray(0, responseBytesMax)
    resolve({ statusCode, headers: isDecoded ? withoutEncoding(headers) : headers, responseBody, ...end })
  }
  const target = {
    write(part: Buffer): void {
      sentParts = []
      parts.push(part)
      size += part.length
      if (size >= responseBytesMax) target.cut()
    },
    end(isWhole: boolean): void {
      const error = hasEnded ? 'invalid_response' : nameBreak()
      finish(isWhole ? { error: null, isComplete: true } : { error, isComplete: false })
    },
    cut(): void {
      finish({ error: null, isComplete: false })
      body.destroy()
      sent.destroy()
    },
  }
  const body = decodeBody(encodings, { target, encodedBytesMax: ENCODED_GROWTH_MAX * responseBytesMax })
  answer.on('data', (chunk: Buffer) => {
    if (encodings.length > 0 && size === 0) sentParts.push(chunk)
    body.write(chunk)
  })
  answer.on('error', () => undefined)
  answer.on('end', () => {
    hasEnded = true
    body.end(true)
    // The receiver responded before it had read the whole request, so this connection cannot be reused.
    if (!sent.writableFinished) sent.destroy()
  })
  answer.on('close', () => {
    if (!hasEnded) body.end(false)
  })
}

function withoutEncoding(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { 'content-encoding': _encoding, 'content-length': _length, ...others } = headers
  return others
}

/** The answer if no response headers arrived. */
export function withoutAnswer(error: OutboundError): Answer {
  return { statusCode: null, headers: {}, error, responseBody: null, isComplete: false }
}
