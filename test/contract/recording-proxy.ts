import { createServer, request as connectHttp, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request and its response, as they were sent over the network. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly status: number
  readonly contentType: string
  readonly answer: string
}

export interface RecordingProxy {
  /** The address that clients use for the enclave. Clients sign it as part of their requests. */
  readonly url: string
  /** All requests with their responses, in the order in which the responses ended. */
  readonly exchanges: readonly Exchange[]
  close(): Promise<void>
}

/**
 * Forwards all requests to the port, and records them. If a response is cut off, the proxy cuts off its own response
 * too.
 */
export async function startRecordingProxy(port: number): Promise<RecordingProxy> {
  const exchanges: Exchange[] = []
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming
    void buffer(incoming)
      .then(async (body) => {
        const answered = await pass(port, { method, path, headers, body })
        const { status, headers: answerHeaders, body: answer } = answered
        const contentType = answerHeaders['content-type'] ?? ''
        exchanges.push({ method, path, headers, body: body.toString(), status, contentType, answer: answer.toString() })
        outgoing.writeHead(status, answerHeaders).end(answer)
      })
      .catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => void server.listen(0, 'localhost', resolve))
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    exchanges,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

async function pass(
  port: number,
  { method, path, headers, body }: Asked,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  return await new Promise((resolve, reject) => {
    const outgoing = connectHttp({ host: 'localhost', port, method, path, headers }, (answer) => {
      buffer(answer).then(
        (answered) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answered }),
        reject,
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
