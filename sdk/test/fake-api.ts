import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Bursar, type GetToken, type Payment, type Runtime } from '../src/main.ts'

export const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const PAYEE = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
/** The client's time when a test begins. */
const STARTED_AT = Date.parse('2026-06-30T00:00:00Z')
export const PARAMS = { agent_id: 'shopper', wallet: WALLET, to: PAYEE, amount_usdc: '1.25' } as const

/** A request as it arrived. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  /** The body as JSON, or an empty object. */
  readonly body: Record<string, string>
}

/** What the API does with one request. `work` does what the request asks for, and returns the true response. */
export type Behaviour = (exchange: {
  readonly request: Received
  readonly response: ServerResponse
  readonly work: () => WireAnswer
  /** Makes the time limits of all current attempts expire. */
  readonly endTimers: () => void
}) => void

export interface WireAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export type Handler = (request: Received) => WireAnswer

/** A server on a real socket that stands in for the API, and a client of it whose waits take no time. */
export interface FakeApi {
  readonly bursar: Bursar
  readonly baseUrl: string
  /** A client with this runtime waits without taking any time. */
  readonly runtime: Partial<Runtime>
  readonly received: readonly Received[]
  /** The waits between the client's attempts, in milliseconds. */
  readonly waits: readonly number[]
  /** The payments that were made, by their idempotency keys. */
  readonly payments: ReadonlyMap<string, Payment>
  /** What happens to the next requests, one behaviour for each. Further requests get the true response. */
  script(...behaviours: readonly Behaviour[]): void
  /** Sets what one operation returns, such as `GET /v1/me`, until `reset`. */
  handle(operation: string, handler: Handler): void
  openWithToken(getToken: GetToken): Bursar
  /** Makes the time limits of all current attempts expire. */
  endTimers(): void
  /** Forgets everything that has happened. */
  reset(): void
  close(): Promise<void>
}

const ok: Behaviour = ({ response, work }) => answer(response, work())

/** Closes the connection without a response. With `afterWork`, makes the payment first. */
export function drop({ afterWork }: { afterWork: boolean }): Behaviour {
  return ({ response, work }) => {
    if (afterWork) work()
    response.destroy()
  }
}

/** Does not respond, and makes the time limit of the attempt expire. With `afterWork`, makes the payment first. */
export function hang({ afterWork = false } = {}): Behaviour {
  return ({ work, endTimers }) => {
    if (afterWork) work()
    endTimers()
  }
}

/** Responds with an error of the API. With `afterWork`, makes the payment first. */
export function fail(
  status: number,
  error: { readonly type: string; readonly code?: string; readonly details?: unknown },
  { afterWork = false, headers = {} }: { afterWork?: boolean; headers?: Record<string, string> } = {},
): Behaviour {
  return ({ response, work }) => {
    if (afterWork) work()
    answer(response, { status, body: { error: { message: 'It failed.', ...error } }, headers })
  }
}

/** Does what the request asks for, and responds with `text`, as a proxy or a damaged connection would. */
export function raw(status: number, text: string): Behaviour {
  return ({ response, work }) => {
    work()
    response.writeHead(status, { 'content-type': 'text/html' }).end(text)
  }
}

/** Does what the request asks for, and cuts the connection in the middle of the response's body. */
export const cut: Behaviour = ({ response, work }) => {
  const text = JSON.stringify(work().body)
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': text.length })
  response.write(text.slice(0, text.length / 2), () => response.destroy())
}

export const RATE_LIMITED = { type: 'rate_limited', code: 'rate_limit_exceeded' }
export const CALL_FAILED = { type: 'internal', code: 'privy_call_failed', details: { payment_id: 'pay_1' } }
export const UNAVAILABLE = { type: 'unavailable' }
export const CAP_EXCEEDED = {
  type: 'forbidden',
  code: 'daily_cap_exceeded',
  details: {
    daily_cap_usdc: '20',
    spent_24h_usdc: '19',
    remaining_24h_usdc: '1',
    requested: '1.25',
    resets_at: '2026-06-30T09:15:00.000Z',
  },
}

export async function startFakeApi(): Promise<FakeApi> {
  const received: Received[] = []
  const waits: number[] = []
  const timers = new Set<() => void>()
  const payments = new Map<string, Payment>()
  let behaviours: readonly Behaviour[] = []
  const handlers = new Map<string, Handler>()
  const server = createServer((message, response) => {
    void readRequest(message).then((request) => {
      received.push(request)
      const [next = ok, ...rest] = behaviours
      behaviours = rest
      const operation = `${request.method} ${request.path}`
      const isPayment = operation === 'POST /v1/payments'
      const handler = handlers.get(operation) ?? (isPayment ? ({ body }) => pay(payments, body) : notFound)
      next({ request, response, work: () => handler(request), endTimers: () => timers.forEach((end) => end()) })
    })
  })
  // By default, the server closes a connection that is idle for 5 s. On a busy machine, this could break a test.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const runtime = createRuntime(waits, timers)
  return {
    bursar: new Bursar({ baseUrl, apiKey: 'svc_test_1', runtime }),
    baseUrl,
    runtime,
    received,
    waits,
    payments,
    script: (...next) => {
      behaviours = next
    },
    handle: (operation, handler) => handlers.set(operation, handler),
    endTimers: () => timers.forEach((end) => end()),
    openWithToken: (getToken) => new Bursar({ baseUrl, getToken, runtime }),
    reset: () => {
      behaviours = []
      for (const list of [received, waits]) list.length = 0
      for (const map of [payments, handlers]) map.clear()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

/**
 * Returns a runtime whose clock moves only by the waits between attempts. The waits take no real time. Time limits
 * expire only when `endTimers` is called.
 */
function createRuntime(waits: number[], timers: Set<() => void>): Partial<Runtime> {
  return {
    now: () => STARTED_AT + waits.reduce((sum, ms) => sum + ms, 0),
    random: () => 0.5,
    sleep: async (ms) => {
      waits.push(ms)
      await nextTurn()
    },
    startTimer: (_ms, onEnd) => {
      timers.add(onEnd)
      return () => timers.delete(onEnd)
    },
  }
}

async function readRequest(message: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const url = new URL(message.url ?? '/', 'http://api')
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, string>
  return {
    method: message.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: message.headers,
    body,
  }
}

/** Makes a payment, or returns the one that has this key, as the service does (D21). */
function pay(payments: Map<string, Payment>, body: Record<string, string>): WireAnswer {
  const key = body['idempotency_key'] ?? `none-${payments.size}`
  const earlier = payments.get(key)
  const payment = earlier ?? makePayment({ id: `pay_${payments.size + 1}`, ...body, idempotency_key: key })
  payments.set(key, payment)
  const fields = ['to', 'amount_usdc'] as const
  const mismatch = fields.filter((name) => earlier !== undefined && earlier[name] !== body[name]).join(', ')
  return {
    status: 201,
    body: { payment },
    headers: {
      ...(earlier === undefined ? {} : { 'idempotent-replayed': 'true' }),
      ...(mismatch === '' ? {} : { 'idempotent-mismatch': mismatch }),
    },
  }
}

export function makePayment(members: object): Payment {
  return {
    kind: 'transfer',
    grant_id: 'grt_1',
    status: 'pending',
    failure_code: null,
    tx_hash: null,
    from: WALLET,
    memo: null,
    created_at: '2026-06-30T00:00:00.000Z',
    confirmed_at: null,
    ...members,
  } as Payment
}

function notFound(): WireAnswer {
  return { status: 404, body: { error: { type: 'not_found', message: 'There is no such resource.' } } }
}

function answer(response: ServerResponse, { status, body, headers = {} }: WireAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req-1', ...headers })
  response.end(JSON.stringify(body))
}
