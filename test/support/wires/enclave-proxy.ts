import { createServer, request as connectHttp, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy between the service and the enclave that reads the requests. */
export interface EnclaveProxy {
  /** The enclave's public address. Clients sign it as part of their requests. */
  readonly url: string
  /**
   * Holds the next request to such a path (by default, to sign), or the enclave's response to it, until the test
   * releases it.
   */
  hold(side: 'request' | 'answer', path?: RegExp): Hold
  /**
   * Ends the connection of the next change of a wallet before the enclave has received it. The request may still arrive
   * later.
   */
  loseChange(): LostChange
  /**
   * Replaces the enclave's responses to reads of such a path by the result of `change`, until the returned function is
   * called. Reads are counted from 1.
   */
  rewrite(path: RegExp, change: (answer: Json, reads: number) => unknown): () => void
  /** The requests, in order. */
  readonly requests: readonly ProxiedRequest[]
  /** Ends every connection, and refuses new requests until `restore`. */
  cut(): void
  restore(): void
  close(): Promise<void>
}

/** The type of a result of `JSON.parse`, for fields that are known to exist. */
export type Json = { [member: string]: Json } & { map<Item>(change: (item: Json) => Item): Item[] }

export interface Hold {
  /** Resolves when the request or the response is held. */
  readonly held: Promise<void>
  /** Releases it, and returns the status of the enclave's response. */
  release(): Promise<number>
}

export interface LostChange {
  /** Lets the request arrive after all, and returns the status of the enclave's response. */
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
  readonly side: 'request' | 'answer'
  readonly reached: () => void
  readonly opened: Promise<void>
  readonly told: (status: number) => void
}

const SIGNING_PATH = /^\/v1\/wallets\/[^/]+\/rpc$/

/**
 * `findPort` is called at each request, because an enclave that must know its public address starts after the proxy.
 */
export async function startEnclaveProxy(findPort: () => number): Promise<EnclaveProxy> {
  const requests: ProxiedRequest[] = []
  const gates: Gate[] = []
  const losing: ((lost: ProxiedRequest) => void)[] = []
  const rewriting = new Set<(asked: ProxiedRequest, answer: EnclaveAnswer) => EnclaveAnswer>()
  let isCut = false

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
    const found = gates.findIndex(({ path }) => path.test(asked.path))
    const gate = found === -1 ? undefined : gates.splice(found, 1)[0]
    if (gate?.side === 'request') {
      gate.reached()
      await gate.opened
    }
    const forwarded = await forward(findPort(), asked)
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
    hold(side, path = SIGNING_PATH) {
      const reached = Promise.withResolvers<void>()
      const opened = Promise.withResolvers<void>()
      const told = Promise.withResolvers<number>()
      gates.push({ path, side, reached: reached.resolve, opened: opened.promise, told: told.resolve })
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
      return { arrive: async () => (await forward(findPort(), await taken.promise)).status }
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
    },
  }
}

interface EnclaveAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Forwards header names and values, path and body unchanged, because all of them may be signed. */
async function forward(port: number, { method, path, headers, body }: ProxiedRequest): Promise<EnclaveAnswer> {
  return await new Promise((resolve, reject) => {
    const sent = connectHttp({ host: 'localhost', port, method, path, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('error', reject)
      answer.once('end', () => {
        // The proxy's own server chooses how to transfer this body.
        const { 'transfer-encoding': _, connection: __, ...kept } = answer.headers
        resolve({ status: answer.statusCode ?? 502, headers: kept, body: Buffer.concat(chunks) })
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
