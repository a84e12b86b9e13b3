import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { pino } from 'pino'
import { startConnectProxy, type ConnectProxy } from '../../../../test/support/wires/connect-proxy.ts'
import { openPoster, type Poster } from '../../../../test/support/wires/open-poster.ts'
import { startRawServer, type RawServer } from '../../../../test/support/wires/raw-server.ts'
import { createSelfSigned } from '../../../../test/support/wires/self-signed.ts'
import { createClock } from '../clock.ts'
import { NOT_MEASURED } from '../measurements.ts'
import { openEgressProxy, type EgressProxy } from './egress-proxy.ts'
import { openOutbound } from './open-outbound.ts'
import { sendRequest } from './send-request.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const HOST = 'hook.example.com'
const PUBLIC = '93.184.216.34'
const OTHER = '93.184.216.35'

describe('requests through the proxy of HTTPS_PROXY', () => {
  const usual = getCACertificates('default')
  const trusted = createSelfSigned(HOST)
  let upstream: RawServer
  before(async () => {
    setDefaultCACertificates([...usual, trusted.cert])
    const server = createServer(trusted).on('tlsClientError', () => undefined)
    upstream = await startRawServer((socket) => socket.write(OK), { server })
  })
  after(async () => {
    setDefaultCACertificates(usual)
    await upstream.close()
  })

  let proxy: ConnectProxy
  let addresses: string[]
  let outcomes: string[]
  let lines: { level: number; msg: string }[]
  let posters: Poster[]
  beforeEach(async () => {
    proxy = await startConnectProxy(upstream.port)
    addresses = [PUBLIC]
    outcomes = []
    lines = []
    posters = []
  })
  afterEach(async () => {
    for (const poster of posters) poster.close()
    await proxy.close()
  })

  const targets = (): string[] => proxy.asked.map(({ target }) => target)

  function openProxy(url = proxy.url, exempt: string[] = []): EgressProxy | null {
    const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) })
    const measurements = { ...NOT_MEASURED, tunnelRequested: (outcome: string) => outcomes.push(outcome) }
    return openEgressProxy({ url, exempt }, { logger, measurements })
  }

  const resolve = async (): Promise<LookupAddress[]> =>
    await Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))

  function open(egress = openProxy(), allowLoopback = false): Poster {
    const poster = openPoster({ allowLoopback, resolve, proxy: egress })
    posters.push(poster)
    return poster
  }

  async function post(poster: Poster, url = `https://${HOST}/`): Promise<unknown> {
    const { statusCode, error } = await poster.post(url)
    return statusCode ?? error
  }

  it('ask it for the address that was checked, and speak TLS with the host of the URL', async () => {
    const { port } = new URL(proxy.url)
    const poster = open(openProxy(`http://us%40er:pass%3Aword@127.0.0.1:${port}`))
    assert.equal(await post(poster), 200)
    const authorization = `Basic ${Buffer.from('us@er:pass:word').toString('base64')}`
    assert.deepEqual(proxy.asked, [{ target: `${PUBLIC}:443`, authorization }])
    const request = upstream.requests.at(-1) ?? ''
    assert.match(request, new RegExp(`^POST / HTTP/1.1\r\n[^]*host: ${HOST}\r\n`, 'i'))
    assert.doesNotMatch(request, /proxy/i)
    // The certificate is not valid for another host.
    assert.equal(await post(poster, 'https://other.example.com/'), 'tls_error')
  })

  it('are not sent to a private address, which the proxy could reach, or after a second DNS response', async () => {
    const poster = open()
    for (const bad of ['10.0.0.1', '127.0.0.1', '169.254.169.254', 'fd00::1']) {
      addresses = [PUBLIC, bad]
      assert.equal(await post(poster), 'blocked_address', bad)
    }
    assert.deepEqual(targets(), [])
    addresses = [PUBLIC]
    assert.equal(await post(poster), 200)
    addresses = ['10.0.0.1']
    assert.equal(await post(poster, `https://${HOST.toUpperCase()}/`), 200, 'the kept connection is used')
    assert.equal(await post(open()), 'blocked_address')
    // A URL with an IP address is never resolved. Here it was not checked before.
    const outbound = openOutbound({
      policy: { allowLoopback: false, ownOrigins: [], contact: 'a@b', proxy: openProxy() },
      clock: createClock(),
    })
    const request = { method: 'GET', headers: {}, body: null, timeoutMs: 20_000, responseBytesMax: 1_000 }
    for (const literal of ['10.0.0.1', '[fd00::1]']) {
      const answer = await sendRequest(outbound, new URL(`https://${literal}/`), { ...request, connectionsOf: '' })
      assert.equal(answer.error, 'blocked_address')
    }
    outbound.close()
    assert.deepEqual(targets(), [`${PUBLIC}:443`])
  })

  it('share a kept connection within a workspace, and not with others', async () => {
    const poster = open()
    for (const connectionsOf of ['acc_1', 'acc_1', 'acc_2']) await poster.post(`https://${HOST}/`, { connectionsOf })
    assert.equal(targets().length, 2)
  })

  it('ask for the next address of the host if the proxy rejects one', async () => {
    addresses = ['2606:4700::1', PUBLIC, OTHER]
    proxy.answer = (target) => (target === `${OTHER}:443` ? 200 : 502)
    assert.equal(await post(open()), 200)
    assert.deepEqual(targets(), ['[2606:4700::1]:443', `${PUBLIC}:443`, `${OTHER}:443`])
    assert.deepEqual(outcomes, ['rejected', 'rejected', 'ok'])
    // What one target says about itself is not worth a line in the log.
    assert.deepEqual(lines, [])
  })

  it('fail while the proxy does not work, with one line in the log, and work again afterwards', async () => {
    const port = Number(new URL(proxy.url).port)
    const poster = open()
    addresses = [PUBLIC, OTHER]
    proxy.answer = () => 407
    assert.equal(await post(poster), 'connection_refused')
    await proxy.close()
    assert.equal(await post(poster), 'connection_refused')
    assert.equal(await post(poster), 'connection_refused')
    proxy = await startConnectProxy(upstream.port, port)
    assert.equal(await post(poster), 200)
    assert.deepEqual(outcomes, ['unauthorized', 'unreachable', 'unreachable', 'ok'])
    assert.deepEqual(
      lines.map(({ level }) => level),
      [40, 40, 30],
    )
  })

  it('go directly to hosts of NO_PROXY and over http', async () => {
    const direct = await startRawServer((socket) => socket.write(OK))
    const poster = open(openProxy(), true)
    addresses = ['127.0.0.1']
    assert.equal(await post(poster, `http://hook.localhost:${direct.port}/`), 200)
    assert.equal(
      await post(open(openProxy(proxy.url, ['localhost']), true), `https://localhost:${upstream.port}/`),
      'tls_error',
    )
    assert.deepEqual(targets(), [])
    await direct.close()
  })

  for (const [exempt, covered, others] of [
    ['example.com', ['example.com:443', 'a.b.example.com:8443', 'EXAMPLE.com:443'], ['notexample.com:443', 'com:443']],
    ['.example.com', ['example.com:443', 'a.example.com:443'], ['example.org:443']],
    ['*.Example.com:8443', ['a.example.com:8443'], ['a.example.com:443']],
    ['10.0.0.1', ['10.0.0.1:443'], ['110.0.0.1:443', '10.0.0.2:443']],
    ['2606:4700::1', ['2606:4700::1:443'], ['2606:4700::2:443']],
    ['[2606:4700::1]:8443', ['2606:4700::1:8443'], ['2606:4700::1:443']],
    ['*', ['example.com:443', '10.0.0.1:1'], []],
  ] as const) {
    it(`treats ${exempt} in NO_PROXY as usual`, () => {
      const uses = (place: string): boolean | undefined => {
        const [, host = '', port] = /^(.*):(\d+)$/.exec(place) ?? []
        return openProxy(proxy.url, [exempt])?.isUsedFor(host, Number(port))
      }
      for (const place of covered) assert.equal(uses(place), false, place)
      for (const place of others) assert.equal(uses(place), true, place)
    })
  }
})
