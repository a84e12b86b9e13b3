import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectError, readBody, readError, sendRaw, type Answer } from '../support/http-client.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

describe('routes, and requests that are not HTTP', () => {
  let given: TestService
  let seeded: Seed
  let urls: readonly string[]
  before(async () => {
    given = await openTestService((config) => ({ ...config, authPort: 0 }))
    seeded = await seed(given.context)
    urls = given.service.ports.map((port) => `http://127.0.0.1:${port}`)
  })
  after(() => given.close())

  const unknown = [
    ...['DELETE /v1/agents/a', 'GET /v1/agents/a/permissions', 'GET /v1/payments', 'POST /v1/payments/pay_1/refund'],
    ...['GET /v2/agents', 'PUT /v1/agents', 'PATCH /v1/payments', 'POST /v1/me', 'OPTIONS /v2/me', 'GET /v1'],
    ...['GET /V1/agents', 'GET /v1//agents', 'GET /v1/../v1/me', 'HEAD /nowhere', 'TRACE /v1/me'],
    ...['GET /v1/me/%zz', 'GET /%', 'GET /%c0%ae', 'POST /healthz', 'GET /.env', 'GET /v1/agents/a/b'],
  ]
  for (const route of unknown) {
    test(`${route} is 404 (D5), with a credential or without`, async () => {
      const [method = '', path = ''] = route.split(' ')
      for (const headers of [[], ['authorization', `Bearer ${seeded.key}`]]) {
        const answer = await given.call({ method, path, headers })
        assert.equal(answer.status, 404)
        assert.match(String(answer.headers['request-id']), /^req_/)
        if (method !== 'HEAD') expectError(answer, { type: 'not_found' })
      }
    })
  }

  test('a 404 names the other host only for a path that exists there', async () => {
    const { authUrl, baseUrl } = given.config
    const { host } = new URL(baseUrl)
    const messageOf = async (path: string) =>
      expectError(await given.call({ path, host }), { type: 'not_found' }).message
    for (const path of ['/v1/balance', '/mcp/x', '/sse', '/documents', '/skill.md', '/console/nothing'])
      assert.equal(await messageOf(path), 'There is no endpoint at this path.', path)
    for (const path of ['/', '/sign-in', '/console/session'])
      assert.equal(await messageOf(path), `There is no endpoint at this path on this host. Try ${authUrl}.`, path)
    assert.match(await messageOf('/v1/payments'), /use GET \/v1\/ledger\.$/)
  })

  test('HEAD gets the same headers as GET, without a body', async () => {
    const answer = await given.call({ method: 'HEAD', path: '/v1/me', key: seeded.key })
    assert.deepEqual([answer.status, answer.text], [200, ''])
    assert.equal((await given.call({ method: 'HEAD', path: '/v1/me' })).status, 401)
  })

  test('the health endpoints report that the process is running, and which parts it can reach', async () => {
    assert.deepEqual(readBody(await given.call({ path: '/healthz' }), 200), { status: 'ok' })
    const { status, checks } = readBody<{ status: string; checks: object }>(await given.call({ path: '/readyz' }), 200)
    assert.equal(status, 'ok')
    assert.deepEqual(Object.keys(checks).toSorted(), ['database', 'enclave', 'live_chain', 'schema', 'test_chain'])
  })

  test('every response has its own Request-Id, which a request cannot choose', async () => {
    const headers = ['request-id', 'mine', 'x-request-id', 'mine']
    const answers = [await given.call({ path: '/v1/me', headers }), await given.call({ path: '/v1/me', headers })]
    const ids = answers.map((answer) => answer.headers['request-id'])
    assert.equal(new Set([...ids, 'mine']).size, 3)
  })

  const garbage: readonly (readonly [string, string | Buffer])[] = [
    ['bytes', Buffer.from([0, 1, 2, 255, 254, 13, 10, 13, 10])],
    ['words', 'hello\r\n\r\n'],
    ['a TLS greeting', Buffer.from('16030100c8010000c40303', 'hex')],
    ['an unknown method', 'BREW /v1/me HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['another version', 'GET /v1/me HTTP/3.0\r\nHost: a\r\n\r\n'],
    ['no host', 'GET /v1/me HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two hosts', 'GET /v1/me HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
    ['a header without a name', 'GET /v1/me HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
    ['NUL in a header', 'GET /v1/me HTTP/1.1\r\nHost: a\r\nX: a\u0000b\r\n\r\n'],
    ['two lengths', 'POST /v1/agents HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}'],
    ['a negative length', 'POST /v1/agents HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n'],
    [
      'a length and chunks, as in request smuggling',
      'POST /v1/agents HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['spaces in the path', 'GET /v1/a b HTTP/1.1\r\nHost: a\r\n\r\n'],
  ]
  for (const [name, bytes] of garbage) {
    test(`${name} is 400 with the envelope, and the connection is closed, on both origins`, async () => {
      for (const url of urls) expectBroken(await sendRaw(url, bytes), 400)
    })
  }

  test('an unknown expectation is ignored', async () => {
    const answer = await given.call({ path: '/v1/me', key: seeded.key, headers: ['expect', 'miracles'] })
    assert.equal(answer.status, 200)
  })

  test('headers above 16 KiB are 413 with the envelope, on both origins', async () => {
    const bytes = `GET /v1/me HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`
    for (const url of urls) expectBroken(await sendRaw(url, bytes), 413)
  })

  test('the service still works after all these requests', async () => {
    for (const url of urls) {
      const answer = await sendRaw(url, 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      assert.deepEqual(readBody(answer, 200), { status: 'ok' })
    }
  })
})

function expectBroken(answer: Answer, status: number): void {
  readError(answer)
  assert.equal(answer.status, status)
  assert.equal(answer.headers['connection'], 'close')
}
