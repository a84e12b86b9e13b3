import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectPage, openOauthServer, type OauthServer } from '../support/service/oauth-server.ts'

/**
 * The error page must not be framed, must not send its address to other sites, and must not repeat values of the
 * request.
 */
describe('the page of an error', () => {
  let given: OauthServer
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  test('has the same headers as every page: no site can frame it, and its address is not sent to others', async () => {
    const { headers } = await given.ask({ path: '/oauth/authorize' })
    const policy = String(headers['content-security-policy'])
    for (const part of [`default-src 'none'`, `style-src 'self'`, `base-uri 'none'`, `frame-ancestors 'none'`]) {
      assert.ok(policy.includes(part), part)
    }
    // The policy does not contain `form-action`, because it would block the redirect to the client after the person's
    // decision.
    assert.ok(!policy.includes('form-action'))
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['referrer-policy'], 'same-origin')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['cross-origin-opener-policy'], undefined, 'a client may have opened the window')
    assert.match(String(headers['request-id']), /^req_/)
  })

  test('contains no value of the request', async () => {
    const canary = `canary"'><img src=x onerror=alert(1)>`
    const client = await given.register({ client_name: canary })
    const changes = [
      { client_id: canary },
      { redirect_uri: canary },
      { scope: canary },
      { response_type: canary },
      { response_mode: canary },
      { code_challenge_method: canary },
      { resource: canary },
      { agent_id: `${canary}\u200b` },
      { state: ['canary', canary] },
    ]
    for (const change of changes) {
      const answer = await given.authorize(client, change)
      assert.equal(answer.status, 400)
      assert.ok(!answer.text.includes('canary'), answer.text)
    }
  })

  test('escapes the name of an unknown parameter', async () => {
    const client = await given.register()
    const answer = await given.authorize(client, { '<img src=x>&"\'': ['a', 'b'] })
    expectPage(answer, { error: 'invalid_request', parameter: '&lt;img src=x&gt;&amp;&quot;&#39;' })
    assert.ok(!answer.text.includes('<img'))
  })

  test('tells the user what to do if the client is not registered any more', async () => {
    const client = await given.register()
    const answer = await given.authorize({ ...client, client_id: 'svc_client_01ARZ3NDEKTSV4RRFFQ69G5FAV' })
    assert.match(answer.text, /remove its connection to Bursar and add it again/)
  })

  test('loads its style sheet from this host, and no other file', async () => {
    const { text } = await given.ask({ path: '/oauth/authorize' })
    const paths = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, path]) => path)
    assert.deepEqual(paths, ['/oauth/page.css'])
    const style = await given.ask({ path: '/oauth/page.css' })
    assert.deepEqual([style.status, style.headers['content-type']], [200, 'text/css; charset=utf-8'])
    assert.match(style.text, /light-dark/)
  })
})
