import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { openPoster, postFromChild, type Poster } from '../../../../test/support/wires/open-poster.ts'
import { startRawServer, type RawServer } from '../../../../test/support/wires/raw-server.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('posting', () => {
  let poster: Poster
  before(() => {
    poster = openPoster()
  })
  after(() => poster.close())

  async function withServer(
    answer: Parameters<typeof startRawServer>[0],
    check: (server: RawServer, url: string) => Promise<void>,
  ): Promise<void> {
    const server = await startRawServer(answer)
    try {
      await check(server, `http://127.0.0.1:${server.port}/hook?a=1`)
    } finally {
      await server.close()
    }
  }

  it('sends the given bytes and headers, and otherwise only the headers that HTTP needs', () =>
    withServer(
      (socket) => socket.write(OK),
      async (server, url) => {
        const body = Buffer.from('{"note":"é✓ \u{1F980}","big":123456789012345678901234567890}')
        const outcome = await poster.post(url, { body, headers: { 'Content-Type': 'application/json', 'X-One': '1' } })
        const { error, responseBody, statusCode } = outcome
        assert.deepEqual(
          { error, responseBody, statusCode },
          { error: null, responseBody: Buffer.from('ok'), statusCode: 200 },
        )
        const [head = '', sent] = server.requests[0]?.split('\r\n\r\n') ?? []
        assert.equal(sent, body.toString())
        const [line, ...headers] = head.split('\r\n')
        assert.equal(line, 'POST /hook?a=1 HTTP/1.1')
        assert.deepEqual(headers, [
          'Content-Type: application/json',
          'X-One: 1',
          'user-agent: Bursar/1 (+https://pay.example.com)',
          `content-length: ${body.length}`,
          `Host: 127.0.0.1:${server.port}`,
          'Connection: keep-alive',
        ])
      },
    ))

  it('follows no redirect', async () => {
    await withServer(
      (socket) => socket.write(OK),
      async (inner) => {
        for (const status of [301, 302, 303, 307, 308]) {
          const redirect = `HTTP/1.1 ${status} Moved\r\nlocation: http://127.0.0.1:${inner.port}/\r\ncontent-length: 0\r\n\r\n`
          await withServer(
            (socket) => socket.write(redirect),
            async (outer, url) => {
              assert.equal((await poster.post(url)).statusCode, status)
              assert.equal(outer.requests.length, 1)
            },
          )
        }
        assert.equal(inner.requests.length, 0)
      },
    )
  })

  it('checks the URL each time, and does not connect if the URL is rejected', () =>
    withServer(
      (socket) => socket.write(OK),
      async (server, url) => {
        const strict = openPoster({ allowLoopback: false })
        const ours = openPoster({ ownOrigins: [new URL(url).origin] })
        assert.equal((await strict.post(url)).error, 'blocked_address')
        assert.equal((await strict.post(url.replace('http:', 'https:'))).error, 'blocked_address')
        assert.equal((await ours.post(url)).error, 'blocked_address')
        assert.equal((await poster.post('not a url')).error, 'blocked_address')
        assert.equal(server.connections.made, 0)
        strict.close()
        ours.close()
      },
    ))

  it('distinguishes a refused connection from one that is reset', async () => {
    const closed = await startRawServer(() => undefined)
    await closed.close()
    assert.equal((await poster.post(`http://127.0.0.1:${closed.port}/`)).error, 'connection_refused')
    for (const end of ['resetAndDestroy', 'destroy', 'end'] as const) {
      await withServer(
        (socket) => void socket[end](),
        async (server, url) => {
          const { error, statusCode, responseBody } = await poster.post(url)
          const expected = { error: 'connection_reset', statusCode: null, responseBody: null }
          assert.deepEqual({ error, statusCode, responseBody }, expected, end)
          assert.equal(server.requests.length, 1)
        },
      )
    }
  })

  it('opens a new connection if a pooled connection turns out to be closed, and only then', () =>
    withServer(
      (socket, request) => {
        if (request.startsWith('POST /closes')) socket.resetAndDestroy()
        else socket.write(OK)
      },
      async (server, url) => {
        const closing = url.replace('/hook', '/closes')
        assert.equal((await poster.post(url)).statusCode, 200)
        assert.equal((await poster.post(closing)).error, 'connection_reset')
        assert.equal(server.requests.length, 3)
        assert.equal((await poster.post(closing)).error, 'connection_reset')
        assert.equal(server.requests.length, 4)
      },
    ))

  it('ignores proxy settings in the environment', async () => {
    let proxied = 0
    const proxy = createServer((socket) => {
      proxied += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => {
      proxy.listen(0, '127.0.0.1', resolve)
    })
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
    await withServer(
      (socket) => socket.write(OK),
      async (_server, url) => {
        const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy']
        const environment = Object.fromEntries(names.map((name) => [name, proxyUrl]))
        const using = { ...environment, NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' }
        assert.equal(await postFromChild(url, using), '200 null')
      },
    )
    assert.equal(proxied, 0)
    await new Promise((resolve) => {
      proxy.close(resolve)
    })
  })

  it('ignores less strict options on the command line', async () => {
    const lax = { NODE_OPTIONS: '--max-http-header-size=1000000 --insecure-http-parser' }
    for (const headers of [`x-much: ${'a'.repeat(20_000)}`, 'transfer-encoding: chunked', 'x-one: a\0b']) {
      await withServer(
        (socket) => socket.end(`HTTP/1.1 200 OK\r\n${headers}\r\ncontent-length: 2\r\n\r\nok`),
        async (_server, url) => {
          assert.equal(await postFromChild(url, lax), 'null invalid_response')
        },
      )
    }
  })
})
