import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { createClock } from '../../../server/src/lib/clock.ts'
import { openEnclave } from '../../../server/src/enclave/open-enclave.ts'

/** For tests: a server on the wire that records what it is sent, and answers as the test says. */
export type StubEnclave = Awaited<ReturnType<typeof startStubEnclave>>

export type ReceivedRequest = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: unknown
}

export type StubAnswer = (response: ServerResponse, request: ReceivedRequest) => void

const STUB_APP_ID = 'app-test'
export const STUB_APP_SECRET = 'APP-SECRET'

export async function startStubEnclave() {
  const requests: ReceivedRequest[] = []
  const sockets = new Set<unknown>()
  const state: { answer: StubAnswer } = { answer: (response) => response.destroy() }
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    sockets.add(request.socket)
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const { method = '', url: path = '', headers } = request
      const received = { method, path, headers, text, body: text === '' ? undefined : JSON.parse(text) }
      requests.push(received)
      state.answer(response, received)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const lines: string[] = []
  const logger = pino(new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) }))

  return {
    apiUrl,
    requests,
    sockets,
    log: () => lines.join(''),
    answer: (answer: StubAnswer) => {
      state.answer = answer
    },
    open: (timeoutMs = 5_000, path = '') =>
      openEnclave(
        { apiUrl: apiUrl + path, appId: STUB_APP_ID, appSecret: STUB_APP_SECRET, timeoutMs },
        { clock: createClock(), logger },
      ),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** The object that a request's authorization signature covers, made of what was received. */
export function signedObject(apiUrl: string, { method, path, headers, body }: ReceivedRequest) {
  const covered = Object.entries(headers).filter(
    ([name]) => name.startsWith('privy-') && name !== 'privy-authorization-signature' && name !== 'privy-client',
  )
  return { version: 1, method, url: apiUrl + path, body, headers: Object.fromEntries(covered) }
}
