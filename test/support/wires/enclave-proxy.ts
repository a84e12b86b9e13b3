import { Agent, createServer, request as connectHttp, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy between the service and the enclave. Tests can read and hold back requests with it. */
export interface EnclaveProxy {
  /** The address that clients use for the enclave. Clients sign it as part of their requests. */
  readonly url: string
  /**
   * Holds back the next request whose path matches, or the enclave's response to it, until the test releases it. The
   * default `path` matches requests to sign. With a `method`, requests with another method pass.
   */
  hold(side: 'request' | 'answer', path?: RegExp, method?: string): Hold
  /**
   * Ends the connection of the next request that changes a wallet, before the enclave has received the request. The
   * test can let the request arrive later.
   */
  loseChange(): LostChange
  /**
   * Calls `change` with the enclave's response to each GET request whose path matches, and responds with the value that
   * `change` returns. `reads` counts these requests, starting with 1. The returned function ends the replacement.
   */
  rewrite(path: RegExp, change: (answer: Json, reads: number) => unknown): () => void
  /** All requests so far, in order. */
  readonly requests: readonly ProxiedRequest[]
  /** Ends every connection, and rejects new requests until `restore` is called. */
  cut(): void
  restore(): void
  close(): Promise<void>
}

/** The result of `JSON.parse`. A test may read any field of which it knows that it exists. */
export type Json = { [member: string]: Json } & { map<Item>(change: (item: Json) => Item): Item[] }

export interface Hold {
  /** Resolves when the proxy holds back the request or the response. */
  readonly held: Promise<void>
  /** Forwards what was held back, and returns the status of the enclave's response. */
  release(): Promise<number>
}

export interface LostChange {
  /** Lets the lost request arrive at the enclave, and returns the status of the response. */
  arrive(): Promise<number>
}

export interface ProxiedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Gate {
  readonly path: RegExp
  readonly method: string | undefined
  readonly side: 'request' | 'answer'
  readonly reached: () => void
  readonly opened: Promise<void>
  readonly told: (status: number) => void
}

const SIGNING_PATH = /^\/v1\/wallets\/[^/]+\/rpc$/

/**
 * Starts the proxy. `findPort` returns the enclave's port. It is called for each request, because the enclave starts
 * after the proxy: the enclave's configuration contains the proxy's address.
 */
export async function startEnclaveProxy(findPort: () => number): Promise<EnclaveProxy> {
  const requests: ProxiedRequest[] = []
  const gates: Gate[] = []
  const losing: ((lost: ProxiedRequest) => void)[] = []
  const rewriting = new Set<(asked: ProxiedRequest, answer: EnclaveAnswer) => EnclaveAnswer>()
  let isCut = false
  const agent = new Agent({ keepAlive: true })

  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('error', () => undefined)
    incoming.on('end', () => {
      const { method = 'GET', url: path = '/', headers } = incoming
      const asked = { method, path, headers, body: Buffer.concat(chunks) }
      requests.push(asked)
      void pass(asked)
        .then(({ status, headers: answered, body }) => outgoing.writeHead(status, answered).end(body))
        .catch(() => outgoing.destroy())
    })
  })

  async function pass(asked: ProxiedRequest): Promise<EnclaveAnswer> {
    const lose = asked.method === 'PATCH' ? losing.shift() : undefined
    if (lose !== undefined) {
      lose(asked)
      throw new Error('the request is lost')
    }
    const found = gates.findIndex(({ path, method = asked.method }) => path.test(asked.path) && method === asked.method)
    const gate = found === -1 ? undefined : gates.splice(found, 1)[0]
    if (gate?.side === 'request') {
      gate.reached()
      await gate.opened
    }
    const forwarded = await forward(agent, findPort(), asked)
    const answer = [...rewriting].reduce((sum, rewrite) => rewrite(asked, sum), forwarded)
    if (gate?.side === 'answer') {
      gate.reached()
      await gate.opened
    }
    gate?.told(answer.status)
    return answer
  }

  server.on('connection', (socket) => {
    if (isCut) socket.destroy()
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    hold(side, path = SIGNING_PATH, method) {
      const reached = Promise.withResolvers<void>()
      const opened = Promise.withResolvers<void>()
      const told = Promise.withResolvers<number>()
      gates.push({ path, method, side, reached: reached.resolve, opened: opened.promise, told: told.resolve })
      return {
        held: reached.promise,
        release: () => {
          opened.resolve()
          return told.promise
        },
      }
    },
    rewrite(path, change) {
      let reads = 0
      const rewrite = (asked: ProxiedRequest, answer: EnclaveAnswer): EnclaveAnswer => {
        if (asked.method !== 'GET' || !path.test(asked.path)) return answer
        reads += 1
        const body = Buffer.from(JSON.stringify(change(JSON.parse(answer.body.toString('utf8')) as Json, reads)))
        return { ...answer, headers: { ...answer.headers, 'content-length': String(body.length) }, body }
      }
      rewriting.add(rewrite)
      return () => void rewriting.delete(rewrite)
    },
    loseChange() {
      const taken = Promise.withResolvers<ProxiedRequest>()
      losing.push(taken.resolve)
      return { arrive: async () => (await forward(agent, findPort(), await taken.promise)).status }
    },
    cut: () => {
      isCut = true
      server.closeAllConnections()
    },
    restore: () => {
      isCut = false
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
      agent.destroy()
    },
  }
}

interface EnclaveAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Forwards the names and values of headers, the path and the body unchanged, because all of them may be signed. */
async function forward(
  agent: Agent,
  port: number,
  { method, path, headers, body }: ProxiedRequest,
): Promise<EnclaveAnswer> {
  return await new Promise((resolve, reject) => {
    const sent = connectHttp({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('error', reject)
      answer.once('end', () => {
        // The proxy's own HTTP server decides how to transfer this body, so these headers are left out.
        const { 'transfer-encoding': _, connection: __, ...kept } = answer.headers
        resolve({ status: answer.statusCode ?? 502, headers: kept, body: Buffer.concat(chunks) })
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
