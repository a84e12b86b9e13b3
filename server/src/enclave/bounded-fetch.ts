import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { urlToHttpOptions } from 'node:url'

/** Requests beyond it wait in the agent's queue, under their own time limit. */
const SOCKETS_MAX = 128
/** Shorter than what servers commonly allow (5 s at least), so that we close an idle connection before they do. */
const SOCKET_IDLE_MS = 4_000
const ANSWER_BYTES_MAX = 1024 * 1024
/** `Response` takes no body with these. */
const BODILESS_STATUSES = [204, 205, 304]
/** What callers read of a response's headers. */
const HEADERS_KEPT = ['content-type', 'date', 'retry-after'] as const

/**
 * A `fetch` for one server, for the SDK to use. The global one lets a body take any time and any length once the headers
 * are there, and costs more processor time than the rest of a signed send. This one resolves when the body is
 * complete, so that the SDK's time limit covers all of it. Redirects are not followed and nothing is tried twice.
 */
export function createBoundedFetch(baseUrl: string) {
  const base = new URL(baseUrl)
  const isTls = base.protocol === 'https:'
  const limits = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: SOCKET_IDLE_MS }
  const agent = isTls ? new HttpsAgent(limits) : new HttpAgent(limits)
  const request = isTls ? requestHttps : requestHttp
  const target = urlToHttpOptions(base)

  async function boundedFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const url = typeof input === 'string' ? input : 'href' in input ? input.href : input.url
    if (!url.startsWith(`${base.origin}/`)) throw new TypeError('the address is not of the enclave')
    return await new Promise((resolve, reject) => {
      const { signal, body } = init
      const sent = request({
        ...target,
        agent,
        path: url.slice(base.origin.length),
        method: init.method ?? 'GET',
        headers: Object.fromEntries(init.headers instanceof Headers ? init.headers : new Headers(init.headers)),
      })
      const stop = () => sent.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
      signal?.addEventListener('abort', stop, { once: true })
      if (signal?.aborted) stop()
      sent.on('error', reject)
      sent.on('close', () => signal?.removeEventListener('abort', stop))
      sent.on('response', (answer) => collect(sent, answer, resolve, reject))
      sent.end(typeof body === 'string' ? body : undefined)
    })
  }

  return { fetch: boundedFetch, close: () => agent.destroy() }
}

function collect(
  sent: ClientRequest,
  answer: IncomingMessage,
  resolve: (response: Response) => void,
  reject: (error: unknown) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > ANSWER_BYTES_MAX) sent.destroy(new Error('the answer is too long'))
    else chunks.push(chunk)
  })
  answer.on('error', reject)
  answer.on('end', () => {
    try {
      resolve(toResponse(answer, Buffer.concat(chunks)))
    } catch (error) {
      reject(error)
    }
  })
}

function toResponse({ statusCode = 0, headers }: IncomingMessage, body: Buffer<ArrayBuffer>): Response {
  const kept = HEADERS_KEPT.flatMap((name): [string, string][] => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  const init = { status: statusCode, headers: kept }
  return new Response(BODILESS_STATUSES.includes(statusCode) ? null : body, init)
}
