import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitFor } from '../wait-for.ts'

/** A delivery as it arrived. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Names and values alternate, spelled as they were sent. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly eventId: string
  /** The number of the attempt, from 1, as its header says. */
  readonly attempt: number
}

/** A status, or a function that handles the response, now or later. */
export type Reply = number | ((response: ServerResponse, received: Received) => void)

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** How many requests wait for a response now, and the most that have ever waited at once. */
  readonly waiting: { readonly now: number; readonly max: number }
  /** Whether two requests of the same event have ever waited at once. */
  readonly hadTwoOfOne: boolean
  /** Sets the response to all later requests. */
  reply(reply: Reply): void
  /** Holds back all later responses until the returned function is called. */
  hold(): (status?: number) => void
  arrived(count: number): Promise<void>
  close(): Promise<void>
}

/**
 * Starts the receiving side of webhooks: an endpoint on a free loopback port that stores what it receives. It responds
 * with 200 by default.
 */
export async function startReceiver(
  makeServer: (listener: RequestListener) => Server = (listener) => createServer(listener),
): Promise<Receiver> {
  const received: Received[] = []
  const waiting: { response: ServerResponse; eventId: string }[] = []
  let max = 0
  let hadTwoOfOne = false
  let next: Reply = 200

  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { headers, rawHeaders, url = '' } = request
      const eventId = String(headers['service-event-id'])
      const attempt = Number(headers['service-delivery-attempt'])
      const one = { path: url, headers, rawHeaders, body: Buffer.concat(chunks), eventId, attempt }
      received.push(one)
      hadTwoOfOne ||= waiting.some((other) => other.eventId === eventId)
      const entry = { response, eventId }
      waiting.push(entry)
      max = Math.max(max, waiting.length)
      response.on('close', () => waiting.splice(waiting.indexOf(entry), 1))
      if (typeof next === 'function') next(response, one)
      else response.writeHead(next).end()
    })
  }
  const server = makeServer(listener)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const scheme = 'setSecureContext' in server ? 'https' : 'http'
  return {
    url: `${scheme}://localhost:${port}/hooks`,
    received,
    get waiting() {
      return { now: waiting.length, max }
    },
    get hadTwoOfOne() {
      return hadTwoOfOne
    },
    reply: (reply) => {
      next = reply
    },
    hold: () => {
      next = () => undefined
      return (status = 200) => {
        next = status
        for (const { response } of waiting) response.writeHead(status).end()
      }
    },
    arrived: async (count) => {
      await waitFor(`${count} deliveries to arrive`, () => received.length >= count)
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
