import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as sendRequest, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { createClock } from '../lib/clock.ts'
import { createLogger } from '../lib/logger.ts'
import { addHealth } from './add-health.ts'
import { addSignerPage, type SignerDir } from './add-signer-page.ts'
import { openHttp, type HttpServer } from './open-http.ts'

const SIGNER_HOST = 'signer.localhost:4101'
const FILES = {
  'index.html': '<!doctype html>',
  'main.js': 'start()',
  'signer.css': 'main {}',
  'decode/rules.js': 'export {}',
  SHA256SUMS: '00  main.js',
  'built-of.txt': 'stamp',
}

describe('addSignerPage', () => {
  let folder: string
  let http: HttpServer
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-signer-'))
    await mkdir(join(folder, 'decode'))
    for (const [name, content] of Object.entries(FILES)) await writeFile(join(folder, name), content)
    http = await open()
  })
  after(async () => {
    await http.close()
    await rm(folder, { recursive: true })
  })

  async function open(
    signerUrl: string | null = `http://${SIGNER_HOST}`,
    signerDir: SignerDir | null = { path: folder, isRequired: true },
  ): Promise<HttpServer> {
    const options = { production: false, trustedProxies: [] }
    const server = openHttp(options, { clock: createClock(0), logger: createLogger('silent') })
    await addSignerPage(server, { signerUrl, signerDir })
    addHealth(server, { needed: { database: async () => undefined } })
    await server.register(async (scope) => {
      scope.get('/v1/agents', async () => 'agents')
      scope.post('/console/session', async () => 'session')
    })
    await server.listen({ host: '127.0.0.1', port: 0 })
    return server
  }

  const get = async (path: string, host = SIGNER_HOST) => await send(http, { path, host })

  for (const [path, type, content] of [
    ['/', 'text/html; charset=utf-8', FILES['index.html']],
    ['/?from=dashboard', 'text/html; charset=utf-8', FILES['index.html']],
    ['/index.html', 'text/html; charset=utf-8', FILES['index.html']],
    ['/main.js', 'text/javascript; charset=utf-8', FILES['main.js']],
    ['/decode/rules.js', 'text/javascript; charset=utf-8', FILES['decode/rules.js']],
    ['/signer.css', 'text/css; charset=utf-8', FILES['signer.css']],
    ['/SHA256SUMS', 'text/plain; charset=utf-8', FILES.SHA256SUMS],
  ] as const) {
    test(`${path} is a file of the page`, async () => {
      const response = await get(path)
      assert.deepEqual([response.status, response.headers['content-type'], response.body], [200, type, content])
      assert.equal(response.headers['x-content-type-options'], 'nosniff')
      assert.equal(response.headers['x-frame-options'], 'DENY')
      assert.match(String(response.headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/)
      assert.equal(response.headers['set-cookie'], undefined)
    })
  }

  test('HEAD sends the headers only', async () => {
    const response = await send(http, { path: '/main.js', method: 'HEAD' })
    assert.deepEqual([response.status, response.body], [200, ''])
  })

  for (const path of [
    '/healthz',
    '/readyz',
    '/v1/agents',
    '/built-of.txt',
    '/decode',
    '/decode/',
    '/decode/..%2fmain.js',
    '//main.js',
    '/favicon.ico',
  ]) {
    test(`there is no ${path} on the page’s host`, async () => assert.equal((await get(path)).status, 404))
  }

  test('nothing can be posted to the page’s host', async () => {
    for (const path of ['/', '/console/session']) {
      const response = await send(http, { path, method: 'POST' })
      assert.equal(response.status, 404)
    }
  })

  test('other hosts have the service, and none of the page’s files', async () => {
    for (const host of ['localhost:4101', 'localhost:4100', 'signer.localhost', 'signer.localhost:4100']) {
      for (const path of ['/', '/main.js', '/SHA256SUMS']) assert.equal((await get(path, host)).status, 404)
      assert.equal((await get('/healthz', host)).status, 200)
      assert.equal((await get('/v1/agents', host)).status, 200)
    }
  })

  test('the page’s host is found in any spelling', async () => {
    assert.equal((await get('/main.js', 'SIGNER.localhost:4101')).status, 200)
  })

  test('without a signer page, its host is like any other', async () => {
    const server = await open(null)
    const response = await send(server, { path: '/healthz' })
    assert.equal(response.status, 200)
    await server.close()
  })

  test('a page that is not in the folder that the operator names is a fault', async () => {
    const signerDir = { path: join(folder, 'decode'), isRequired: true }
    await assert.rejects(open(undefined, signerDir), /There is no signer page in .*decode/)
  })

  test('a page that is hosted apart, or not built, is not served, and the service starts', async () => {
    for (const signerDir of [null, { path: join(folder, 'missing'), isRequired: false }]) {
      const server = await open(undefined, signerDir)
      for (const path of ['/', '/main.js', '/healthz']) assert.equal((await send(server, { path })).status, 404)
      assert.equal((await send(server, { path: '/healthz', host: 'localhost:4101' })).status, 200)
      await server.close()
    }
  })
})

interface Response {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function send(
  { server }: HttpServer,
  { path, method = 'GET', host = SIGNER_HOST }: { path: string; method?: string; host?: string },
): Promise<Response> {
  const { port } = server.address() as AddressInfo
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const request = sendRequest(
    { host: '127.0.0.1', port, path, method, headers: { host }, agent: false },
    (response) => {
      const { statusCode: status, headers } = response
      text(response).then((body) => resolve({ status, headers, body }), reject)
    },
  )
  request.once('error', reject).end()
  return await promise
}
