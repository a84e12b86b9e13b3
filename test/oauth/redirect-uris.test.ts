import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  AUTH_URL,
  expectOauthError,
  expectPage,
  handleOf,
  openOauthServer,
  readTokens,
  type OauthServer,
} from '../support/service/oauth-server.ts'

/**
 * Rejected requests: what differs, the registered URI, and the requested URI. The test of
 * `server/src/oauth/redirect-uri.ts` has the full table. This table has only URIs that could change on their way over
 * HTTP.
 */
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['a trailing slash', 'https://app.example/cb', 'https://app.example/cb/'],
  ['an escaped tilde', 'https://app.example/~', 'https://app.example/%7E'],
  ['an escaped slash', 'https://app.example/a/b', 'https://app.example/a%2Fb'],
  ['the default port', 'https://app.example/cb', 'https://app.example:443/cb'],
  ['the scheme’s case', 'https://app.example/cb', 'HTTPS://app.example/cb'],
  ['the query’s order', 'https://app.example/cb?a=1&b=2', 'https://app.example/cb?b=2&a=1'],
  ['a plus for a space', 'https://app.example/cb?a=+', 'https://app.example/cb?a=%20'],
  ['a fragment', 'https://app.example/cb', 'https://app.example/cb#'],
  ['user information', 'https://app.example/cb', 'https://user@app.example/cb'],
  ['a host that starts with loopback', 'http://127.0.0.1/cb', 'http://127.0.0.1.nip.example/cb'],
  ['loopback as user information', 'http://127.0.0.1/cb', 'http://127.0.0.1:80@evil.example/cb'],
  ['localhost for 127.0.0.1', 'http://127.0.0.1:1/cb', 'http://localhost:1/cb'],
  ['another path', 'http://127.0.0.1/cb', 'http://127.0.0.1:1/cb/x'],
  ['127.0.0.2', 'http://127.0.0.1/cb', 'http://127.0.0.2/cb'],
  ['another port by https', 'https://localhost:3000/cb', 'https://localhost:3001/cb'],
  ['port 0', 'http://127.0.0.1/cb', 'http://127.0.0.1:0/cb'],
  ['port 65536', 'http://127.0.0.1/cb', 'http://127.0.0.1:65536/cb'],
  ['an empty port', 'http://127.0.0.1/cb', 'http://127.0.0.1:/cb'],
  ['another scheme', 'http://127.0.0.1/cb', 'javascript://127.0.0.1/cb'],
  ['a leading space', 'https://app.example/cb', ' https://app.example/cb'],
  ['a longer path', 'https://app.example/cb', 'https://app.example/cb/../evil'],
  ['full-width digits', 'http://127.0.0.1/cb', 'http://１２７.0.0.1/cb'],
  ['our own port of loopback', 'http://localhost/cb', `${AUTH_URL}/cb`],
]

/**
 * Accepted requests with the redirect URIs of VS Code, Claude Code, Cursor and ChatGPT: a description, the registered
 * URI, and the requested URI.
 */
const TAKEN: readonly (readonly [string, string, string])[] = [
  ['the same https URI', 'https://vscode.dev/redirect', 'https://vscode.dev/redirect'],
  ['another port of 127.0.0.1', 'http://127.0.0.1:33418/', 'http://127.0.0.1:51004/'],
  ['a port where none was registered', 'http://localhost/callback', 'http://localhost:51004/callback'],
  ['no port where one was registered', 'http://localhost:8787/callback', 'http://localhost/callback'],
  ['another port of [::1]', 'http://[::1]:1234/cb', 'http://[::1]:51004/cb'],
  ['a query', 'https://app.example/cb?tenant=1', 'https://app.example/cb?tenant=1'],
  ['2,048 characters', longUri(2_048), longUri(2_048)],
]

describe('a redirect URI over HTTP', () => {
  let given: OauthServer
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  for (const [name, registered, requested] of REFUSED) {
    test(`is rejected with a page, whether or not the user is signed in: ${name}`, async () => {
      const client = await given.register({ redirect_uris: [registered] })
      assert.deepEqual(client.redirect_uris, [registered])
      for (const call of [{}, { person: given.owner }]) {
        const answer = await given.authorize(client, { redirect_uri: requested }, call)
        expectPage(answer, { error: 'invalid_request', parameter: 'redirect_uri' })
        assert.ok(!answer.text.includes(requested.trim()), 'nothing of it is shown')
      }
    })
  }

  for (const [name, registered, requested] of TAKEN) {
    test(`is accepted, and the code is bound to the requested URI: ${name}`, async () => {
      const client = await given.register({ redirect_uris: ['https://other.example/', registered] })
      const approved = await given.approveCode(client, { redirect_uri: requested })
      assert.equal(approved.redirectUri, requested)
      // The token request must repeat the requested redirect URI, not the registered one (RFC 6749, section 4.1.3).
      const other = requested === registered ? `${requested}x` : registered
      expectOauthError(await given.exchange(approved, { redirect_uri: other }), 'invalid_grant')
      readTokens(await given.exchange(approved))
    })
  }

  test('that was dropped at registration is rejected at use (D36a)', async () => {
    const cursor = 'cursor://anysphere.cursor-mcp/oauth/callback'
    const client = await given.register({ redirect_uris: [cursor, 'http://localhost:8787/callback'] })
    const answer = await given.authorize(client, { redirect_uri: cursor }, { person: given.owner })
    expectPage(answer, { error: 'invalid_request', parameter: 'redirect_uri' })
    handleOf(await given.authorize(client, { redirect_uri: 'http://localhost:8787/callback' }))
  })

  test('of another client is rejected', async () => {
    const [one, other] = [await given.register(), await given.register({ redirect_uris: ['https://other.example/cb'] })]
    const answer = await given.authorize(one, { redirect_uri: other.redirect_uris[0] ?? '' }, { person: given.owner })
    expectPage(answer, { error: 'invalid_request', parameter: 'redirect_uri' })
  })
})

function longUri(length: number): string {
  const start = 'https://app.example/'
  return start + 'a'.repeat(length - start.length)
}
