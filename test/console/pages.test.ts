import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { addConsole } from '../../server/src/console/add-console.ts'
import { openHttp } from '../../server/src/http/open-http.ts'
import { ASSET, openConsoleServer, PAGE, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, readBody, readError, send, sendRaw, type Answer } from '../support/http-client.ts'

const HTML = ['accept', 'text/html,application/xhtml+xml,*/*;q=0.8']
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)',
  'cache-control': 'no-store',
}

describe("the dashboard's pages and files", () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer()
  })
  after(() => server.close())

  const pages = ['/', '/sign-in', '/sign-up', '/recover', '/invite/svc_inv_x', '/consent?request=svc_oar_x', '/account']
  for (const path of [...pages, '/w/acme', '/w/acme/agents', '/w/acme/a/b?c=d']) {
    test(`${path} is the page, which cannot be framed or cached, and which loads nothing from elsewhere`, async () => {
      const answer = await get(path)
      assert.deepEqual([answer.status, answer.text], [200, PAGE])
      expectPageHeaders(answer)
    })
  }

  test('HEAD of a page has its headers and no body', async () => {
    const answer = await send(server.url, { host: server.host, method: 'HEAD', path: '/sign-in' })
    assert.deepEqual([answer.status, answer.text], [200, ''])
    expectPageHeaders(answer)
  })

  for (const path of ['/nowhere', '/sign-in/', '/w', '/invite', '/assetsx', '/index.html', '/v1x', '/.env']) {
    test(`${path} is a 404 with a page for a browser, and with the error envelope for a program`, async () => {
      const answer = await get(path, HTML)
      assert.deepEqual([answer.status, answer.text], [404, PAGE])
      expectPageHeaders(answer)
      expectError(await get(path), { type: 'not_found' })
      expectError(await get(path, ['accept', 'application/json']), { type: 'not_found' })
    })
  }

  const programs = ['/console', '/console/', '/console/nowhere', '/console/session/x', '/v1', '/v1/nowhere', '/oauth/x']
  for (const path of [...programs, '/.well-known/x', '/console?x', '/assets/nothing.js', '/assets/', '/assets']) {
    test(`${path} is a 404 with the error envelope for every client`, async () => {
      expectError(await get(path, HTML), { type: 'not_found' })
      expectError(await get(path), { type: 'not_found' })
    })
  }

  test('an unknown path below /console is 404 with any method, and is not cached', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await send(server.url, { host: server.host, method, path: '/console/nowhere', headers: HTML })
      expectError(answer, { type: 'not_found' })
      assert.equal(answer.headers['cache-control'], 'no-store')
    }
    for (const [method, path] of [
      ['GET', '/console/sign-out'],
      ['PUT', '/console/session'],
      ['POST', '/console/session'],
    ]) {
      expectError(await send(server.url, { host: server.host, method: String(method), path: String(path) }), {
        type: 'not_found',
      })
    }
  })

  test('a request with a method other than GET gets no page', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      for (const path of ['/', '/sign-in', '/nowhere', '/assets/main-1a2b.js']) {
        expectError(await send(server.url, { host: server.host, method, path, headers: HTML }), { type: 'not_found' })
      }
    }
  })

  test('an asset is cached without limit, because its name changes with its content', async () => {
    const answer = await get('/assets/main-1a2b.js')
    assert.deepEqual([answer.status, answer.text], [200, ASSET])
    assert.match(String(answer.headers['content-type']), /^(?:text|application)\/javascript\b/)
    assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin')
  })

  test('an asset is sent compressed if the client accepts that, and the compressed file has no path of its own', async () => {
    const outgoing = request(`${server.url}/assets/main-1a2b.js`, {
      agent: false,
      headers: { 'accept-encoding': 'gzip, br', host: server.host },
    })
    outgoing.end()
    const [compressed] = (await once(outgoing, 'response')) as [IncomingMessage]
    const { headers } = compressed
    assert.equal(headers['content-encoding'], 'br')
    assert.match(String(headers['vary']), /accept-encoding/i)
    assert.match(String(headers['content-type']), /^(?:text|application)\/javascript\b/)
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.equal(brotliDecompressSync(await buffer(compressed)).toString('utf8'), ASSET)
    const plain = await get('/assets/main-1a2b.js')
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.match(String(plain.headers['vary']), /accept-encoding/i)
    expectError(await get('/assets/main-1a2b.js.br'), { type: 'not_found' })
  })

  test('only assets can be read through the path of the assets', async () => {
    const ways = ['../index.html', '..%2findex.html', '%2e%2e/index.html', '%2e%2e%2findex.html', '..%5cindex.html']
    for (const way of [...ways, './../index.html', '%00', 'main-1a2b.js%00', '/main-1a2b.js', '.hidden']) {
      for (const headers of [[], HTML]) {
        const answer = await get(`/assets/${way}`, headers)
        assert.ok(answer.status === 404 || answer.status === 400, `${way}: ${answer.status}`)
        readError(answer)
        assert.ok(!answer.text.includes('root'))
        assert.doesNotMatch(String(answer.headers['cache-control']), /immutable/)
      }
    }
  })

  test('on the REST host, none of the dashboard is served', async () => {
    for (const path of ['/', '/sign-in', '/nowhere', '/assets/main-1a2b.js', '/console/session', '/console/nowhere']) {
      const onRestHost = await getFrom(server.config.baseUrl, path)
      expectError(onRestHost, { type: 'not_found' })
      const onAuthHost = await getFrom(server.config.authUrl, path)
      assert.equal(onAuthHost.status, path.endsWith('nowhere') ? 404 : 200)
    }
    const nowhere = await getFrom(server.config.authUrl, '/nowhere')
    assert.equal(nowhere.text, PAGE)
    assert.equal((await getFrom(server.config.baseUrl, '/console/session')).headers['cache-control'], 'no-store')
  })

  test('if both hosts are the same, this host serves the dashboard', async () => {
    const one = await openConsoleServer((config) => ({ ...config, baseUrl: config.authUrl }))
    try {
      for (const path of ['/', '/assets/main-1a2b.js', '/console/session']) {
        const raw = `GET ${path} HTTP/1.1\r\nHost: ${new URL(one.config.authUrl).host}\r\nConnection: close\r\n\r\n`
        assert.equal((await sendRaw(one.url, raw)).status, 200)
      }
    } finally {
      await one.close()
    }
  })

  test('no other origin can read a response, and no header allows it', async () => {
    for (const [method, path] of [
      ['GET', '/console/session'],
      ['GET', '/'],
      ['OPTIONS', '/console/session'],
    ]) {
      const headers = ['origin', 'https://evil.example', 'access-control-request-method', 'POST']
      const answer = await send(server.url, { host: server.host, method: String(method), path: String(path), headers })
      for (const name of Object.keys(answer.headers)) assert.ok(!name.startsWith('access-control-'), name)
      assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin')
    }
  })

  test("openapi.json does not contain the dashboard's endpoints", async () => {
    const { paths } = readBody<{ paths: object }>(await get('/openapi.json'), 200)
    assert.ok(Object.keys(paths).length > 0)
    for (const path of Object.keys(paths)) assert.match(path, /^\/v1\//)
  })

  test('without a built dashboard, the server does not start, and says what to do', async () => {
    const { context, config, clock } = server
    const http = openHttp(config, { clock, logger: context.logger })
    const options = { ...config, dashboardDir: join(tmpdir(), 'bursar-no-such-dashboard') }
    await assert.rejects(addConsole(http, context, options), {
      message: 'The dashboard is not built. Run npm run build.',
    })
    await http.close()
  })

  async function get(path: string, headers: readonly string[] = []): Promise<Answer> {
    return await send(server.url, { host: server.host, path, headers })
  }

  async function getFrom(origin: string, path: string): Promise<Answer> {
    const head = [`GET ${path} HTTP/1.1`, `Host: ${new URL(origin).host}`, 'Accept: text/html', 'Connection: close']
    return await sendRaw(server.url, `${head.join('\r\n')}\r\n\r\n`)
  }
})

function expectPageHeaders(answer: Answer): void {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) assert.equal(answer.headers[name], value, name)
  assert.equal(answer.headers['set-cookie'], undefined)
}
