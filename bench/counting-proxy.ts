import { createServer, request as connectHttp, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CountingProxy {
  readonly url: string
  /** The number of requests since the last reset, by the names that `classify` returns. */
  counts(): ReadonlyMap<string, number>
  reset(): void
  close(): Promise<void>
}

export interface Passing {
  /** The names under which a request is counted. */
  readonly classify: (asked: { method: string; path: string; body: string }) => readonly string[]
  /** Returns the body to send to the client instead of the service's own body. */
  readonly rewrite?: (asked: { method: string; path: string; body: string }, answer: string) => string
}

/**
 * Starts a proxy on loopback between the server and a service that it calls. The proxy counts requests. It forwards the
 * headers and bodies of requests unchanged, because they are signed.
 */
export async function startCountingProxy(findPort: () => number, passing: Passing): Promise<CountingProxy> {
  const counts = new Map<string, number>()
  const server = createServer((incoming, outgoing) => {
    void readBody(incoming)
      .then(async (body) => {
        const { method = 'GET', url: path = '/', headers } = incoming
        const asked = { method, path, body: body.toString('utf8') }
        for (const name of passing.classify(asked)) counts.set(name, (counts.get(name) ?? 0) + 1)
        const answer = await forward(findPort(), { ...asked, headers, bytes: body })
        const text = answer.body.toString('utf8')
        const told = Buffer.from(passing.rewrite?.(asked, text) ?? text)
        const { 'transfer-encoding': _, connection: __, ...kept } = answer.headers
        outgoing.writeHead(answer.status, { ...kept, 'content-length': String(told.length) }).end(told)
      })
      .catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    counts: () => counts,
    reset: () => counts.clear(),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

async function forward(
  port: number,
  { method, path, headers, bytes }: { method: string; path: string; headers: IncomingHttpHeaders; bytes: Buffer },
): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = connectHttp({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      readBody(answer).then(
        (body) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body }),
        reject,
      )
    })
    sent.once('error', reject)
    sent.end(bytes)
  })
}

async function readBody(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
