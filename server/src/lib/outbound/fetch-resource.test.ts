import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createClock } from '../clock.ts'
import { dropHeaders } from './drop-headers.ts'
import { fetchResource, type ResourceAnswer, type ResourceRequest } from './fetch-resource.ts'
import { openOutbound } from './open-outbound.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

const RULES = { allowLoopback: true, ownOrigins: [], contact: 'https://pay.example.com' }
const OURS = 'Bursar/1 (+https://pay.example.com)'
/** Long enough for a request to arrive, even on a busy machine. */
const SHORT_MS = 2_000
const LIMITS = { timeoutMs: 20_000, responseBytesMax: 1_000, redirectsMax: 3, onEnd: () => undefined }
const redirect = (to: string, status = 302): Handler => {
  return (_, response) => void response.writeHead(status, { location: to }).end('moved')
}

describe('a resource that an agent chose', () => {
  const outbound = openOutbound({ policy: RULES, clock: createClock() })
  const servers: Server[] = []
  const origins: string[] = []
  let handlers: Record<string, Handler> = {}
  let seen: Seen[] = []
  let connections = 0

  before(async () => {
    for (const host of ['127.0.0.1', '127.0.0.2']) {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          const { method = '', url = '', headers } = request
          seen.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') })
          const answer: Handler = handlers[url] ?? ((_, free) => void free.end(`goods of ${url}`))
          answer(request, response)
        })
      })
      server.on('connection', () => (connections += 1))
      await new Promise<void>((resolve) => server.listen(0, host, resolve))
      servers.push(server)
      origins.push(`http://${host}:${(server.address() as AddressInfo).port}`)
    }
  })
  beforeEach(() => {
    handlers = {}
    seen = []
    connections = 0
  })
  after(() => {
    outbound.close()
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  })

  const get = async (path: string, changes: Partial<ResourceRequest> = {}): Promise<ResourceAnswer> => {
    const request = { url: `${origins[0]}${path}`, method: 'GET', headers: {}, body: null, ...LIMITS, ...changes }
    return await fetchResource(outbound, request)
  }

  test('gets the method, the headers and the body as they are, uncompressed, on a connection of its own', async () => {
    const body = Buffer.from('{"question":"rain?"}')
    const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip', 'x-own': 'yes' }
    for (const method of ['PUT', 'PUT']) {
      const { answer, isTruncated } = await get('/a?b=c', { method, headers, body })
      assert.deepEqual([answer.statusCode, String(answer.responseBody), isTruncated], [200, 'goods of /a?b=c', false])
    }
    assert.equal(connections, 2)
    assert.equal(seen[0]?.body, String(body))
    assert.equal(seen[0].headers['accept-encoding'], 'identity')
    assert.equal(seen[0].headers['x-own'], 'yes')
  })

  test('is cut at the limit, and says so', async () => {
    for (const [bytes, isCut] of [
      [LIMITS.responseBytesMax, false],
      [LIMITS.responseBytesMax + 1, true],
    ] as const) {
      handlers['/big'] = (_, response) => void response.end('x'.repeat(bytes))
      const { answer, isTruncated } = await get('/big')
      assert.deepEqual([answer.responseBody?.length, answer.error, isTruncated], [LIMITS.responseBytesMax, null, isCut])
    }
  })

  test('whose body breaks off is no complete answer', async () => {
    handlers['/broken'] = (_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half')
      setImmediate(() => response.destroy())
    }
    const { answer, isTruncated } = await get('/broken')
    assert.deepEqual([answer.statusCode, answer.error, isTruncated], [200, 'connection_reset', true])
  })

  test('that never answers, or hangs up, is asked once', async () => {
    handlers['/never'] = () => undefined
    handlers['/gone'] = (request) => void request.socket.destroy()
    const never = await get('/never', { timeoutMs: SHORT_MS })
    assert.deepEqual([never.answer.error, never.isTruncated], ['timeout', false])
    assert.equal((await get('/gone')).answer.error, 'connection_reset')
    assert.deepEqual(
      seen.map(({ url }) => url),
      ['/never', '/gone'],
    )
  })

  test('is followed through three redirects, and the fourth is the answer', async () => {
    for (const step of [1, 2, 3, 4]) handlers[`/${step}`] = redirect(`/${step + 1}`)
    const three = await get('/2')
    assert.deepEqual([three.answer.statusCode, three.url], [200, `${origins[0]}/5`])
    const four = await get('/1')
    assert.deepEqual([four.answer.statusCode, four.url], [302, `${origins[0]}/4`])
    const none = await get('/1', { redirectsMax: 0 })
    assert.deepEqual([none.answer.statusCode, none.url], [302, `${origins[0]}/1`])
  })

  test('a redirect is followed even if its body breaks off', async () => {
    handlers['/moved'] = (_, response) => {
      response.writeHead(302, { location: '/here', 'content-length': 100 }).write('go', () => response.destroy())
    }
    assert.equal(String((await get('/moved')).answer.responseBody), 'goods of /here')
  })

  test('a redirect never changes an order: it is followed by 307 and 308 on the same origin only', async () => {
    const body = Buffer.from('secret')
    const headers = { 'content-type': 'text/plain', 'x-secret': 'yes' }
    handlers['/here'] = (_, response) => void response.end('there')
    for (const status of [301, 302, 303, 307, 308]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        for (const to of [`${origins[0]}/here`, `${origins[1]}/here`]) {
          seen = []
          handlers['/moved'] = redirect(to, status)
          const { answer, stoppedAt } = await get('/moved', { method, headers, body })
          const isFollowed = status >= 307 && to.startsWith(String(origins[0]))
          assert.deepEqual([answer.statusCode, stoppedAt], isFollowed ? [200, null] : [status, to])
          const sent = seen.map((one) => [one.method, one.body, one.headers['x-secret']])
          assert.deepEqual(
            sent,
            Array.from({ length: isFollowed ? 2 : 1 }, () => [method, 'secret', 'yes']),
          )
        }
      }
    }
  })

  test('by GET and HEAD, every redirect is followed with the same method', async () => {
    for (const method of ['GET', 'HEAD']) {
      for (const status of [301, 302, 303, 307, 308]) {
        seen = []
        handlers['/moved'] = redirect('/here', status)
        assert.equal((await get('/moved', { method })).stoppedAt, null)
        assert.deepEqual(
          seen.map((one) => one.method),
          [method, method],
        )
      }
    }
  })

  test('at another origin gets harmless headers only, and so does every later one', async () => {
    handlers['/elsewhere'] = redirect(`${origins[1]}/there`)
    handlers['/there'] = redirect(`${origins[0]}/back`)
    handlers['/same'] = redirect('/back')
    const secret = { authorization: 'Bearer secret', 'x-api-key': 'secret', apikey: 'secret', 'x-auth-token': 'secret' }
    const harmless = { accept: 'text/html', 'accept-language': 'de', 'accept-payment': 'evm/charge', 'user-agent': 'a' }
    const named = { ...harmless, 'user-agent': `a ${OURS}` }
    const read = (): unknown[] =>
      seen.map(({ headers: { host: _host, connection: _connection, 'accept-encoding': _encoding, ...rest } }) => rest)
    await get('/elsewhere', { headers: { ...secret, ...harmless } })
    assert.deepEqual(read(), [{ ...secret, ...named }, named, named])
    seen = []
    await get('/same', { headers: { ...secret, ...harmless } })
    assert.deepEqual(read()[1], { ...secret, ...named })
  })

  test('say that they are ours, and whom to contact, also if the agent names a user agent of its own (D94)', async () => {
    handlers['/there'] = redirect('/here')
    for (const [headers, expected] of [
      [{}, OURS],
      [{ 'user-agent': 'Agent/2' }, `Agent/2 ${OURS}`],
    ] as const) {
      seen = []
      await get('/there', { headers })
      assert.deepEqual(
        seen.map((one) => one.headers['user-agent']),
        [expected, expected],
      )
    }
  })

  for (const to of [
    'https://10.0.0.1/',
    'http://169.254.169.254/latest',
    'https://user:word@a.example/',
    'ftp://a.example/',
  ]) {
    test(`is not followed to ${to}`, async () => {
      handlers['/out'] = redirect(to)
      const { answer } = await get('/out')
      assert.deepEqual([answer.statusCode, answer.error], [null, 'blocked_address'])
    })
  }

  test('is not asked at all at an address that is not allowed', async () => {
    const { answer } = await get('', { url: 'https://192.168.0.1/' })
    assert.equal(answer.error, 'blocked_address')
  })
})

test('headers of the connection, of proxies, of cookies and of payments are dropped', () => {
  const dropped = {
    ...{ Host: 'a', Cookie: 'a=b', Connection: 'close, x-hop', 'X-Hop': '1', 'Content-Length': '5', TE: 'trailers' },
    ...{ 'X-PAYMENT': 'a', 'X-Payment-Response': 'a', 'Payment-Signature': 'a', 'Proxy-Authorization': 'a' },
    ...{ Forwarded: 'for=a', 'X-Forwarded-For': 'a', Upgrade: 'h2c', Via: '1.1 a', Expect: '100-continue' },
  }
  assert.deepEqual(dropHeaders(dropped), {})
  for (const authorization of ['Payment abc', 'payment abc', 'Bearer a, Payment b']) {
    assert.deepEqual(dropHeaders({ authorization }), {})
  }
  const kept = { accept: 'text/html', authorization: 'Bearer payment', 'accept-payment': 'evm/charge', 'x-own': '1' }
  assert.deepEqual(dropHeaders({ ...kept, 'X-Own': '2' }), { ...kept, 'x-own': '2' })
})
