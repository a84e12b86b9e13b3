import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Clock } from '../clock.ts'
import type { Agents } from './agents.ts'
import { checkWebhookUrl } from './check-url.ts'
import { isReset, nameError, type OutboundError } from './outbound-error.ts'
import type { OutboundPolicy } from './policy.ts'

/** Node's default, set here so that the command line cannot raise it. */
const ANSWER_HEADER_BYTES_MAX = 16 * 1024

/** What is needed to send requests to URLs that users have chosen. */
export interface Outbound {
  readonly policy: OutboundPolicy
  readonly clock: Clock
  readonly agents: Agents
}

export interface OutboundRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON, sent byte for byte. */
  readonly body: Buffer
  /** For the whole request: name resolution, connection, headers and body (D45). */
  readonly timeoutMs: number
  /** The rest of a longer response body is neither read nor waited for. */
  readonly responseBytesMax: number
}

export interface OutboundOutcome {
  /** Set once the headers have arrived, whatever happens afterwards. */
  readonly statusCode: number | null
  /** Null if a status arrived, and the body ended in time, was cut off, or reached the limit. */
  readonly error: OutboundError | null
  /** The bytes as received, not decompressed, decoded or validated. Null if no headers arrived. */
  readonly responseBody: Buffer | null
  readonly durationMs: number
}

type Answer = Omit<OutboundOutcome, 'durationMs'>

/**
 * Posts JSON once to a URL that a user has chosen, and returns the outcome. It never throws because of the other side.
 * The URL is checked again. Redirects are not followed, and no cookies, credentials or proxies are used.
 */
export async function postJson(outbound: Outbound, request: OutboundRequest): Promise<OutboundOutcome> {
  const { policy, clock } = outbound
  const startedAt = clock.now().getTime()
  const url = checkWebhookUrl(request.url, policy)
  const answer = typeof url === 'string' ? withoutAnswer('blocked_address') : await post(outbound, url, request)
  // In the sandbox, the clock may have been moved in the meantime.
  const durationMs = Math.min(Math.max(clock.now().getTime() - startedAt, 0), request.timeoutMs)
  return { ...answer, durationMs }
}

async function post({ agents }: Outbound, url: URL, request: OutboundRequest): Promise<Answer> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), request.timeoutMs)
  try {
    const answer = await exchange(url, request, { agent: agents.pick(url, 'pooled'), signal: deadline.signal })
    if (answer !== 'stale') return answer
    const again = await exchange(url, request, { agent: agents.pick(url, 'new'), signal: deadline.signal })
    return again === 'stale' ? withoutAnswer('connection_reset') : again
  } finally {
    clearTimeout(timer)
  }
}

/** Returns `stale` if the other side had closed a pooled connection, most likely before the request reached it. */
async function exchange(
  url: URL,
  { headers, body, responseBytesMax }: OutboundRequest,
  { agent, signal }: { agent: ReturnType<Agents['pick']>; signal: AbortSignal },
): Promise<Answer | 'stale'> {
  const { promise, resolve } = Promise.withResolvers<Answer | 'stale'>()
  const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': body.length },
    agent,
    signal,
    maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
    insecureHTTPParser: false,
  })
  let hasAnswer = false
  sent.on('error', (error) => {
    if (hasAnswer) return
    if (signal.aborted) resolve(withoutAnswer('timeout'))
    else resolve(sent.reusedSocket && isReset(error) ? 'stale' : withoutAnswer(nameError(error, url)))
  })
  // We never request another protocol.
  sent.on('upgrade', (_answer, socket) => {
    socket.destroy()
    resolve(withoutAnswer('invalid_response'))
  })
  sent.on('response', (answer) => {
    hasAnswer = true
    collect(answer, { sent, signal, responseBytesMax }, resolve)
  })
  sent.end(body)
  return await promise
}

/**
 * The headers decide the outcome. An error after them does not change it, except for the timeout, which covers the body
 * too.
 */
function collect(
  answer: IncomingMessage,
  { sent, signal, responseBytesMax }: { sent: ClientRequest; signal: AbortSignal; responseBytesMax: number },
  resolve: (answer: Answer) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  const finish = (): void => {
    const responseBody = Buffer.concat(chunks).subarray(0, responseBytesMax)
    resolve({ statusCode: answer.statusCode ?? null, error: signal.aborted ? 'timeout' : null, responseBody })
  }
  answer.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size < responseBytesMax) return
    finish()
    sent.destroy()
  })
  answer.on('error', () => undefined)
  answer.on('end', () => {
    finish()
    // It responded before it had read the whole request, so this connection cannot be reused.
    if (!sent.writableFinished) sent.destroy()
  })
  answer.on('close', finish)
}

function withoutAnswer(error: OutboundError): Answer {
  return { statusCode: null, error, responseBody: null }
}
