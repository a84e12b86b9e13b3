import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, test, type TestContext } from 'node:test'
import { openHttp, type HttpServer } from '../../server/src/http/open-http.ts'
import { rejectBrokenRequest } from '../../server/src/http/send-problem.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openPools, type Pools } from '../../server/src/lib/pools.ts'
import { readBody, send, sendRaw } from '../support/http-client.ts'
import { waitFor } from '../support/wait-for.ts'

/** Larger than what the operating system keeps for a client that does not read. */
const BIG = Buffer.alloc(8 * 1_024 * 1_024, 'x')
/** As many as may wait for the response to the first one, and this one. */
const REQUESTS_OF_CONNECTION = 17
/** How many places each address in turn may have of 512: half of those that are free. Together they are all of them. */
const ALL_PLACES = [256, 128, 64, 32, 16, 8, 4, 2, 1, 1]
/** The same for requests that use only the database, of which a process works on 128. */
const DATABASE_PLACES = ALL_PLACES.slice(2)
const HONEST = 8

interface Limits {
  readonly pools?: Pools
  readonly stallMs?: number
}

describe('clients that send or read slowly', () => {
  let http: HttpServer
  let url: string
  /** The sockets of the attackers. */
  let sockets: Socket[]
  let begun: number
  /** The connections that the server has. */
  let connections: Set<Socket>
  /** How many requests are being handled, and the most that were. */
  let handled: { now: number; most: number }
  beforeEach(async () => {
    sockets = []
    await open({})
  })
  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    await http.close()
  })

  /** Opens a server with one route for each kind of request, which needs no database. */
  async function open({ pools = openPools(), stallMs }: Limits): Promise<void> {
    http = openHttp(
      { production: false, trustedProxies: ['127.0.0.1'], ...(stallMs === undefined ? {} : { stallMs }) },
      { clock: createClock(), logger: createLogger('silent'), pools },
    )
    begun = 0
    handled = { now: 0, most: 0 }
    connections = new Set()
    http.server.on('request', () => (begun += 1))
    http.server.on('connection', (socket: Socket) => {
      connections.add(socket)
      socket.once('close', () => connections.delete(socket))
    })
    await http.register(async (scope: HttpServer) => {
      scope.addHook('onRequest', scope.overloadGate.hook)
      scope.post('/echo', async (request) => request.body)
      scope.get('/big', { config: { load: 'database' } }, async () => BIG)
      scope.get('/small', { config: { load: 'database' } }, async () => {
        handled.now += 1
        handled.most = Math.max(handled.most, handled.now)
        await new Promise((resolve) => {
          setImmediate(resolve)
        })
        handled.now -= 1
        return { small: true }
      })
    })
    await http.listen({ host: '127.0.0.1', port: 0 })
    url = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`
  }

  async function reopen(limits: Limits): Promise<void> {
    await http.close()
    await open(limits)
  }

  /** Opens a connection that sends bytes, and never reads. */
  function attack(bytes: string, port = Number(new URL(url).port)): Socket {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(bytes)
    sockets.push(socket)
    return socket
  }

  /** Eight clients with addresses of their own send a request each, and all are served. */
  async function expectServed(): Promise<void> {
    const answers = await Promise.all(
      Array.from({ length: HONEST }, async (_, index) => {
        const headers = ['x-forwarded-for', `198.51.100.${index}`]
        const posted = await send(url, { path: '/echo', headers, body: { index } })
        assert.deepEqual(readBody(posted, 200), { index })
        return readBody(await send(url, { path: '/small', headers }), 200)
      }),
    )
    assert.equal(answers.length, HONEST)
  }

  test('bodies that do not arrive take no place, and others are served meanwhile', async () => {
    let sent = 0
    for (const [address, places] of ALL_PLACES.entries()) {
      for (let index = 0; index < places; index += 1) attack(post(addressOf(address), 100, 'x'))
      sent += places
      await waitFor('the requests', () => begun === sent)
    }
    await expectServed()
    await waitFor('the bytes', () => http.arrivingBodies.bytes === sent)
    assert.equal(http.overloadGate.inWork, 0)
  })

  test('responses that nobody reads take no place, and others are served meanwhile', async () => {
    let sent = 0
    for (const [address, places] of DATABASE_PLACES.entries()) {
      for (let left = places; left > 0; left -= REQUESTS_OF_CONNECTION) {
        attack(get('/big', addressOf(address)).repeat(Math.min(left, REQUESTS_OF_CONNECTION)))
      }
      sent += places
      await waitFor('the requests', () => begun === sent)
    }
    await expectServed()
    assert.ok(http.drainingAnswers.bytes > 0)
    assert.equal(http.overloadGate.inWork, 0)
  })

  test('of unread responses, the client with most of them loses its oldest, and others keep theirs', async () => {
    await reopen({ pools: openPools({ unreadAnswers: 3 * BIG.length }) })
    const slow = attack(lastGet('/big'))
    await waitFor('the response', () => http.drainingAnswers.bytes > 0)
    for (let index = 0; index < 6; index += 1) attack(get('/big', addressOf(1)))
    await waitFor('the requests', () => begun === 7)
    await waitFor('the end of the oldest responses', () => openSockets() < 7)
    assert.ok(http.drainingAnswers.bytes <= 3 * BIG.length)
    assert.ok((await readToEnd(slow)) > BIG.length)
  })

  test('of bodies that arrive, the client with most bytes loses its oldest, and others keep theirs', async () => {
    await reopen({ pools: openPools({ arrivingBodies: 100_000 }) })
    const text = JSON.stringify('y'.repeat(50_000))
    const slow = attack(post(addressOf(0), text.length, text.slice(0, 20_000)))
    await waitFor('the first half', () => http.arrivingBodies.bytes === 20_000)
    for (let index = 0; index < 6; index += 1) attack(post(addressOf(1), 60_000, 'z'.repeat(30_000)))
    await waitFor('the end of the oldest bodies', () => openSockets() < 7)
    assert.ok(http.arrivingBodies.bytes <= 100_000)
    slow.write(text.slice(20_000))
    assert.ok((await readToEnd(slow)) > text.length)
  })

  test('requests of one connection are handled one after the other, and too many of them close it', async () => {
    const { text } = await sendRaw(url, get('/small', addressOf(0)).repeat(5) + lastGet('/small'))
    assert.equal(text.split('{"small":true}').length - 1, 6)
    assert.equal(handled.most, 1)
    const socket = attack(get('/big', addressOf(0)).repeat(100))
    await waitFor('the end of the connection', () => socket.closed || openSockets() === 0)
    assert.equal(http.overloadGate.inWork, 0)
  })

  test('a client that reads nothing for a while is disconnected', async () => {
    await reopen({ stallMs: 50 })
    attack(get('/big', addressOf(0)))
    await waitFor('the response', () => begun === 1)
    await waitFor('the end of the connection', () => openSockets() === 0)
    assert.equal(http.drainingAnswers.bytes, 0)
  })

  test('a client whose request took too long cannot keep its connection open', async (t) => {
    const { port, closed } = await listenBriefly(t)
    const socket = attack(post(addressOf(0), 60_000, 'x'), port)
    const drip = setInterval(() => socket.write('x'), 100)
    t.after(() => clearInterval(drip))
    await closed
  })

  test('a connection that got no request is closed without a response, one with a part of a request gets an error', async (t) => {
    for (const [bytes, response] of [
      ['', /^$/],
      ['GET / HT', /^HTTP\/1\.1 400 Bad Request\r\n/],
    ] as const) {
      const { port, closed } = await listenBriefly(t)
      const socket = attack(bytes, port)
      const received = socket.setEncoding('utf8').toArray()
      await closed
      assert.match((await received).join(''), response)
    }
  })

  /** Opens a server on which a request must arrive within 50 ms. `closed` waits for the end of its first connection. */
  async function listenBriefly(t: TestContext) {
    const server = createServer({ requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 10 })
    server.on('clientError', (error, socket: Socket) => rejectBrokenRequest(error, socket, createClock()))
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    server.on('connection', (socket) => socket.once('close', resolve))
    await new Promise<void>((listening) => {
      server.listen(0, '127.0.0.1', listening)
    })
    t.after(() => server.close())
    return { port: (server.address() as AddressInfo).port, closed }
  }

  function openSockets(): number {
    return connections.size
  }
})

function addressOf(index: number): string {
  return `203.0.113.${index}`
}

function get(path: string, address: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`
}

function lastGet(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
}

function post(address: string, length: number, begin: string): string {
  return [
    'POST /echo HTTP/1.1',
    'Host: a',
    `X-Forwarded-For: ${address}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    'Connection: close',
    '',
    begin,
  ].join('\r\n')
}

/** Reads what a connection gets until its end. Returns the number of bytes. */
async function readToEnd(socket: Socket): Promise<number> {
  let bytes = 0
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume()
  await new Promise((resolve) => {
    socket.once('end', resolve)
    socket.once('close', resolve)
  })
  return bytes
}
