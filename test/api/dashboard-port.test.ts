import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CONSOLE_ROUTES } from '../../server/src/console/contract/all-routes.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { expectError, send, type Answer, type Call } from '../support/http-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

const NO_ENDPOINT = 'There is no endpoint at this path.'
const PAGE = ['accept', 'text/html']
const FORM = { method: 'POST', body: Buffer.from('a=b'), type: 'application/x-www-form-urlencoded' }

// What people open in a browser, and the status on the dashboard's port.
const DASHBOARD: [number, Call][] = [
  [200, { path: '/', headers: PAGE }],
  [200, { path: '/sign-in', headers: PAGE }],
  [200, { path: '/invite/abc', headers: PAGE }],
  [200, { path: '/consent?request=a', headers: PAGE }],
  [200, { path: '/w/northwind/live/payments', headers: PAGE }],
  [404, { path: '/nowhere', headers: PAGE }],
  [404, { path: '/console/nowhere' }],
  [200, { path: '/console/session' }],
  // Without a session or valid parameters, these two reject the request with a page or an error of their own.
  [400, { path: '/oauth/authorize' }],
  [403, { path: '/oauth/consent', ...FORM }],
]

// What programs call, pages for everybody, and the checks of load balancers; with the status on every port.
const EVERYWHERE: [number, Call][] = [
  [401, { path: '/v1/me' }],
  [401, { path: '/mcp', body: {} }],
  [400, { path: '/oauth/token', ...FORM }],
  [400, { path: '/oauth/revoke', ...FORM }],
  [400, { path: '/oauth/register', body: {} }],
  [200, { path: '/.well-known/oauth-authorization-server' }],
  [200, { path: '/.well-known/oauth-protected-resource' }],
  [200, { path: '/openapi.json' }],
  [200, { path: '/llms.txt' }],
  [200, { path: '/docs/' }],
  [200, { path: '/healthz' }],
  [200, { path: '/readyz' }],
  [404, { path: '/metrics' }],
]

describe('with DASHBOARD_PORT (D1a)', () => {
  let given: TestService
  let seeded: Seed
  let [publicUrl, dashboardUrl]: string[] = []
  before(async () => {
    given = await openTestService((config) => ({ ...config, dashboard: { host: '127.0.0.1', port: 0 } }))
    seeded = await seed(given.context)
    ;[publicUrl, dashboardUrl] = given.service.ports.map((port) => `http://127.0.0.1:${port}`)
  })
  after(() => given.close())

  async function call(url: string | undefined, call: Call): Promise<Answer> {
    return await send(url ?? '', { host: new URL(given.config.authUrl).host, ...call })
  }

  async function expectHidden(one: Call): Promise<void> {
    const answer = await call(publicUrl, one)
    assert.equal(answer.status, 404)
    // It names no other address, because nobody outside can reach that address.
    if (!one.path.startsWith('/oauth/')) assert.equal(expectError(answer, { type: 'not_found' }).message, NO_ENDPOINT)
    assert.equal(answer.headers['set-cookie'], undefined)
  }

  for (const [status, one] of DASHBOARD) {
    test(`${one.method ?? 'GET'} ${one.path} exists on the dashboard's port only`, async () => {
      assert.equal((await call(dashboardUrl, one)).status, status)
      await expectHidden(one)
      // The host of the REST API has no dashboard on any port.
      const onApiHost = await call(dashboardUrl, { ...one, host: new URL(given.config.baseUrl).host })
      assert.equal(onApiHost.status, 404)
    })
  }

  test("every endpoint of the dashboard exists on the dashboard's port only", async () => {
    for (const { method, url } of CONSOLE_ROUTES) {
      const path = url.replaceAll(/:\w+/g, 'x')
      const one = { method, path, ...(method === 'GET' ? {} : { body: {} }) }
      assert.notEqual((await call(dashboardUrl, one)).status, 404, path)
      await expectHidden(one)
    }
  })

  for (const [status, one] of EVERYWHERE) {
    test(`${one.method ?? 'GET'} ${one.path} is the same on both ports`, async () => {
      for (const url of [publicUrl, dashboardUrl]) assert.equal((await call(url, one)).status, status)
    })
  }

  test('an agent pays on either port, and the signer page keeps its host', async () => {
    const signer = { path: '/console/session', host: new URL(given.config.signerUrl ?? '').host }
    for (const url of [publicUrl, dashboardUrl]) {
      assert.equal((await call(url, { path: '/v1/me', key: seeded.key })).status, 200)
      const answer = await call(url, signer)
      assert.equal(expectError(answer, { type: 'not_found' }).message, 'There is no file at this path.')
    }
  })
})
