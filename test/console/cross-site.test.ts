import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, readBody } from '../support/http-client.ts'
import { seed } from '../support/context/seed.ts'
import { openVisitor, readSession, type Visitor } from './person.ts'

const SITES = ['same-origin', 'same-site', 'cross-site', 'none', null] as const
const ORIGINS = ['ours', 'other', 'null', null] as const

/**
 * A request is allowed if at least one header shows that it comes from our own pages, and no header shows another
 * origin (D47).
 */
describe('requests from other sites', () => {
  let server: ConsoleServer
  let visitor: Visitor
  before(async () => {
    server = await openConsoleServer()
    visitor = await openVisitor(server)
  })
  after(() => server.close())

  for (const site of SITES) {
    for (const origin of ORIGINS) {
      const allowed =
        ([null, 'same-origin'].includes(site) &&
          [null, 'ours'].includes(origin) &&
          (site !== null || origin !== null)) ||
        // With strict privacy settings, a browser sends `Origin: null` even for our own pages.
        (site === 'same-origin' && origin === 'null')
      test(`Sec-Fetch-Site ${site ?? 'absent'}, Origin ${origin ?? 'absent'}: ${allowed ? 'allowed' : 'rejected'}`, async () => {
        const headers = headersOf(site, origin)
        const before = await countWorkspaces()
        const answer = await visitor.browser.call('POST', '/console/workspaces', { name: 'Acme' }, headers)
        if (allowed) readBody(answer, 201)
        else expectError(answer, { type: 'forbidden', code: 'cross_origin' })
        assert.equal(await countWorkspaces(), before + (allowed ? 1 : 0))
        const read = await visitor.browser.call('GET', '/console/session', undefined, headers)
        assert.equal(read.status, 200, 'what changes nothing is not held against it')
      })
    }
  }

  test('an origin that is similar to ours is another origin', async () => {
    const { authUrl, baseUrl } = server.config
    const { hostname, port } = new URL(authUrl)
    const near = [baseUrl, `${authUrl}/`, authUrl.toUpperCase(), `https://${hostname}:${port}`, `http://${hostname}`]
    for (const origin of [
      ...near,
      `http://127.0.0.1:${port}`,
      `${authUrl}.evil.example`,
      `${authUrl} ${authUrl}`,
      '',
    ]) {
      const answer = await visitor.browser.call('POST', '/console/workspaces', { name: 'x' }, ['origin', origin])
      expectError(answer, { type: 'forbidden', code: 'cross_origin' })
    }
  })

  test('every request for a change is rejected before the body, the session and the path are checked', async () => {
    const ways = [
      ...['POST /console/sign-out', 'POST /console/sign-in/options', 'POST /console/sign-in', 'POST /console/sign-up'],
      ...['POST /console/sign-up/options', 'POST /console/recovery', 'POST /console/recovery-codes'],
      'POST /console/sign-out-elsewhere',
      ...['POST /console/verification/options', 'POST /console/verification', 'POST /console/passkeys/options'],
      ...['POST /console/passkeys', 'DELETE /console/passkeys/x', 'POST /console/workspaces'],
      ...['PATCH /console/workspaces/x/members/y', 'DELETE /console/workspaces/x/members/y'],
      ...['POST /console/workspaces/x/invitations', 'DELETE /console/workspaces/x/invitations/y'],
      ...['POST /console/invitations/look-up', 'POST /console/invitations/accept'],
      ...['POST /console/workspaces/x/agents', 'DELETE /console/workspaces/x/connections/y'],
      ...['DELETE /console/workspaces/x/agents/y?mode=test', 'POST /console/workspaces/x/grants'],
      ...['replacement', 'signing-request', 'signature', 'suspend'].map(
        (verb) => `POST /console/workspaces/x/grants/y/${verb}`,
      ),
      ...['POST /console/workspaces/x/webhooks', 'PATCH /console/workspaces/x/webhooks/y'],
      ...['DELETE /console/workspaces/x/webhooks/y', 'POST /console/workspaces/x/webhooks/y/rotate-secret'],
      ...['POST /console/workspaces/x/webhooks/y/test', 'POST /console/workspaces/x/webhooks/y/replay'],
      'POST /console/workspaces/x/deliveries/y/replay',
    ]
    for (const way of ways) {
      const [method = '', path = ''] = way.split(' ')
      for (const headers of [[], ['sec-fetch-site', 'cross-site', 'origin', 'https://evil.example']]) {
        const answer = await visitor.browser.call(method, path, method === 'DELETE' ? undefined : 'junk', headers)
        expectError(answer, { type: 'forbidden', code: 'cross_origin' })
      }
    }
    assert.notEqual(await readSession(visitor.browser), null, 'nobody was signed out')
  })

  test('a form is rejected, whether from another site or from ours, because only JSON is accepted', async () => {
    const { authUrl } = server.config
    for (const [origin, expected] of [
      ['https://evil.example', { type: 'forbidden', code: 'cross_origin' }],
      [authUrl, { type: 'unsupported_media_type' }],
    ] as const) {
      for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
        const headers = ['origin', origin, 'content-type', type]
        const answer = await visitor.browser.call('POST', '/console/sign-out', Buffer.from('a=b'), headers)
        expectError(answer, expected)
      }
    }
    assert.notEqual(await readSession(visitor.browser), null)
  })

  test('a bearer token is ignored: only the cookie shows who the caller is', async () => {
    const { key, workspace } = await seed(server.context)
    const bearer = ['authorization', `Bearer ${key}`]
    const path = `/console/workspaces/${workspace.slug}/members`
    const { browser } = visitor
    expectError(await browser.call('GET', path, undefined, bearer), { type: 'not_found' })
    const both = await browser.call('GET', '/console/session', undefined, bearer)
    assert.equal(readBody<{ session: { user: { id: string } } }>(both, 200).session.user.id, visitor.userId)
    expectError(await browser.call('POST', '/console/workspaces', { name: 'x' }, bearer), {
      type: 'forbidden',
      code: 'cross_origin',
    })
    const secret = browser.cookies.get('session')
    browser.cookies.clear()
    for (const credential of [key, secret]) {
      const headers = ['authorization', `Bearer ${credential}`]
      assert.deepEqual(readBody(await browser.call('GET', '/console/session', undefined, headers), 200), {
        session: null,
        sign_up: 'open',
      })
      expectError(await browser.call('GET', '/console/passkeys', undefined, headers), { type: 'unauthenticated' })
    }
    browser.cookies.set('session', String(secret))
  })

  function headersOf(site: string | null, origin: string | null): string[] {
    const origins: Readonly<Record<string, string>> = { ours: server.config.authUrl, other: 'https://evil.example' }
    return [
      ...(site === null ? [] : ['sec-fetch-site', site]),
      ...(origin === null ? [] : ['origin', origins[origin] ?? origin]),
    ]
  }

  async function countWorkspaces(): Promise<number> {
    return (await readSession(visitor.browser))?.workspaces.length ?? 0
  }
})
