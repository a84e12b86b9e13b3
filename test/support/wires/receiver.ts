import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitFor } from '../wait-for.ts'

/** A delivery as the receiver got it. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The headers as a list in which names and values alternate, spelled as they were sent. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly eventId: string
  /** The number of the attempt according to its header, starting with 1. */
  readonly attempt: number
}

/** A status, or a function that sends the response, at once or later. */
export type Reply = number | ((response: ServerResponse, received: Received) => void)

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** The number of requests that now wait for a response, and the largest number that have waited at the same time. */
  readonly waiting: { readonly now: number; readonly max: number }
  /** Whether two requests for the same event have ever waited for a response at the same time. */
  readonly hadTwoOfOne: boolean
  /** Sets how the receiver responds to all later requests. */
  reply(reply: Reply): void
  /** Makes all later responses wait until the returned function is called. */
  hold(): (status?: number) => void
  arrived(count: number): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a server that receives webhooks on a free loopback port, and stores them. By default, it responds with 200.
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
