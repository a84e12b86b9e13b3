import { Agent, request as sendHttp, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { LoadRequest } from './load.ts'

/** More clients than a server can serve. Each has a connection of its own, and sends its request again and again. */
export interface FloodOrder {
  readonly url: string
  readonly seconds: number
  readonly requests: readonly LoadRequest[]
  /** Whether a client that was turned away waits as long as `Retry-After` says before it tries again. */
  readonly isPatient: boolean
}

/** The times from sending a request to the end of its response, in milliseconds. */
export interface FloodFigures {
  /** The first requests of all connections, which are sent at once on new connections. */
  readonly firstTurnedAwayMs: readonly number[]
  /** All other requests that were turned away. */
  readonly turnedAwayMs: readonly number[]
  readonly servedMs: readonly number[]
  /** The number of responses with a status other than 201, 429 or 503, and of requests without a response. */
  readonly failed: number
}

const CREATED = 201
const TOO_MANY = 429
const UNAVAILABLE = 503

async function flood({ url, seconds, requests, isPatient }: FloodOrder): Promise<FloodFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: requests.length })
  const end = performance.now() + seconds * 1_000
  const firstTurnedAwayMs: number[] = []
  const turnedAwayMs: number[] = []
  const servedMs: number[] = []
  let failed = 0
  const sendInTurn = async (request: LoadRequest): Promise<void> => {
    for (let isFirst = true; performance.now() < end; isFirst = false) {
      const started = performance.now()
      const answer = await send(agent, url, request).catch(() => null)
      const elapsed = performance.now() - started
      if (answer?.status === CREATED) servedMs.push(elapsed)
      else if (answer?.status === UNAVAILABLE) (isFirst ? firstTurnedAwayMs : turnedAwayMs).push(elapsed)
      else if (answer?.status !== TOO_MANY) failed += 1
      const waitMs = Number(answer?.headers['retry-after'] ?? 0) * 1_000
      // The clients of one flood do not all come back in the same millisecond.
      if (isPatient) await delay(Math.min(waitMs * (1 + Math.random()), Math.max(0, end - performance.now())))
    }
  }
  await Promise.all(requests.map(sendInTurn))
  agent.destroy()
  return { firstTurnedAwayMs, turnedAwayMs, servedMs, failed }
}

async function send(
  agent: Agent,
  url: string,
  { method, path, headers, body = '' }: LoadRequest,
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders }> {
  return await new Promise((resolve, reject) => {
    const length = { 'content-length': Buffer.byteLength(body) }
    const outgoing = sendHttp(new URL(path, url), { agent, method, headers: { ...headers, ...length } }, (incoming) => {
      incoming.once('end', () => resolve({ status: incoming.statusCode, headers: incoming.headers }))
      incoming.once('error', reject)
      incoming.resume()
    })
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}

process.on('disconnect', () => process.exit(0))
process.on('message', (order: FloodOrder) => {
  void flood(order).then((figures) => process.send?.(figures))
})
process.send?.({ ready: true })
