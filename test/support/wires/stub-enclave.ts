import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { createClock } from '../../../server/src/lib/clock.ts'
import { openEnclave } from '../../../server/src/enclave/privy/open-enclave.ts'
import type { TransferOrder } from '../../../server/src/enclave/enclave.ts'
import { generateSignerKey } from '../../../server/src/enclave/privy/signer-key.ts'
import type { Pools } from '../../../server/src/lib/pools.ts'
import { parseAddress, type Address } from '../../../server/src/values/address.ts'
import { microUsdc } from '../../../server/src/values/money.ts'

/** A server in place of the enclave. It records its requests, and sends the responses that the test defines. */
export type StubEnclave = Awaited<ReturnType<typeof startStubEnclave>>

export type ReceivedRequest = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: unknown
}

export type StubAnswer = (response: ServerResponse, request: ReceivedRequest) => void

/** A time limit that is never reached: the stub responds sooner, even on a busy machine. */
const PATIENT_MS = 20_000
/** A short time limit, for an enclave that never responds. */
export const HASTY_MS = 1_500
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
    open: ({ timeoutMs = PATIENT_MS, path = '', pools }: { timeoutMs?: number; path?: string; pools?: Pools } = {}) =>
      openEnclave(
        { apiUrl: apiUrl + path, appId: STUB_APP_ID, appSecret: STUB_APP_SECRET, timeoutMs },
        { clock: createClock(), logger, pools },
      ),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The signer in every order that `makeOrder` makes. */
export const ORDER_SIGNER = generateSignerKey()

/** Makes an order for the enclave to sign a transfer. */
export function makeOrder(change: Partial<TransferOrder> = {}): TransferOrder {
  return {
    enclaveWalletId: 'w00000000000000000000001',
    signerPrivateKey: ORDER_SIGNER.privateKey,
    chainId: 84532,
    contract: toAddress('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'),
    to: toAddress('0x52908400098527886e0f7030069857d2e4169ee7'),
    sponsored: true,
    amountMicro: microUsdc(1_500_000n),
    referenceId: 'pay_1',
    attemptKey: 'attempt-1',
    expiresAt: new Date('2100-01-01T00:00:00.000Z'),
    ...change,
  }
}

/** Makes a response that accepts a transfer and contains this data. */
export function acceptTransfer(data: object): StubAnswer {
  return (response) => sendJson(response, 200, { method: 'eth_sendTransaction', data })
}

function toAddress(text: string): Address {
  return parseAddress(text) ?? assert.fail(`${text} is no address`)
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/**
 * Returns the object that the authorization signature of a request covers. It is built from the request as it was
 * received.
 */
export function signedObject(apiUrl: string, { method, path, headers, body }: ReceivedRequest) {
  const covered = Object.entries(headers).filter(
    ([name]) => name.startsWith('privy-') && name !== 'privy-authorization-signature' && name !== 'privy-client',
  )
  return { version: 1, method, url: apiUrl + path, body, headers: Object.fromEntries(covered) }
}
