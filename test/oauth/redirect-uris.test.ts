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
 * The registered URI and the requested one. The full table is in the test of `server/src/oauth/redirect-uri.ts`. This
 * table has those URIs that their transport over HTTP could change.
 */
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['B1 a trailing slash', 'https://app.example/cb', 'https://app.example/cb/'],
  ['B1 an escaped tilde', 'https://app.example/~', 'https://app.example/%7E'],
  ['B1 an escaped slash', 'https://app.example/a/b', 'https://app.example/a%2Fb'],
  ['B1 the default port', 'https://app.example/cb', 'https://app.example:443/cb'],
  ['B1 the scheme’s case', 'https://app.example/cb', 'HTTPS://app.example/cb'],
  ['B1 the query’s order', 'https://app.example/cb?a=1&b=2', 'https://app.example/cb?b=2&a=1'],
  ['B1 a plus for a space', 'https://app.example/cb?a=+', 'https://app.example/cb?a=%20'],
  ['B2 a fragment', 'https://app.example/cb', 'https://app.example/cb#'],
  ['B3 user information', 'https://app.example/cb', 'https://user@app.example/cb'],
  ['B4 a host that starts with loopback', 'http://127.0.0.1/cb', 'http://127.0.0.1.nip.example/cb'],
  ['B4 loopback as user information', 'http://127.0.0.1/cb', 'http://127.0.0.1:80@evil.example/cb'],
  ['B6 localhost for 127.0.0.1', 'http://127.0.0.1:1/cb', 'http://localhost:1/cb'],
  ['B6 another path', 'http://127.0.0.1/cb', 'http://127.0.0.1:1/cb/x'],
  ['B7 127.0.0.2', 'http://127.0.0.1/cb', 'http://127.0.0.2/cb'],
  ['B8 another port by https', 'https://localhost:3000/cb', 'https://localhost:3001/cb'],
  ['B9 port 0', 'http://127.0.0.1/cb', 'http://127.0.0.1:0/cb'],
  ['B9 port 65536', 'http://127.0.0.1/cb', 'http://127.0.0.1:65536/cb'],
  ['B9 an empty port', 'http://127.0.0.1/cb', 'http://127.0.0.1:/cb'],
  ['B10 another scheme', 'http://127.0.0.1/cb', 'javascript://127.0.0.1/cb'],
  ['B10 a leading space', 'https://app.example/cb', ' https://app.example/cb'],
  ['B11 a longer path', 'https://app.example/cb', 'https://app.example/cb/../evil'],
  ['B12 full-width digits', 'http://127.0.0.1/cb', 'http://１２７.0.0.1/cb'],
  ['B14 our own port of loopback', 'http://localhost/cb', `${AUTH_URL}/cb`],
]

/** The redirect URIs of VS Code, Claude Code, Cursor and ChatGPT. */
const TAKEN: readonly (readonly [string, string, string])[] = [
  ['the same https URI', 'https://vscode.dev/redirect', 'https://vscode.dev/redirect'],
  ['B5 another port of 127.0.0.1', 'http://127.0.0.1:33418/', 'http://127.0.0.1:51004/'],
  ['B5 a port where none was registered', 'http://localhost/callback', 'http://localhost:51004/callback'],
  ['B5 no port where one was registered', 'http://localhost:8787/callback', 'http://localhost/callback'],
  ['B7 another port of [::1]', 'http://[::1]:1234/cb', 'http://[::1]:51004/cb'],
  ['A13 a query', 'https://app.example/cb?tenant=1', 'https://app.example/cb?tenant=1'],
  ['B13 2,048 characters', longUri(2_048), longUri(2_048)],
]

describe('a redirect URI over HTTP', () => {
  let given: OauthServer
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  for (const [name, registered, requested] of REFUSED) {
    test(`is refused by a page, whoever is signed in: ${name}`, async () => {
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
    test(`is taken, and bound to the code as it was asked for: ${name}`, async () => {
      const client = await given.register({ redirect_uris: ['https://other.example/', registered] })
      const approved = await given.approveCode(client, { redirect_uri: requested })
      assert.equal(approved.redirectUri, requested)
      // The token request must repeat the requested URI, not the registered one (D7).
      const other = requested === registered ? `${requested}x` : registered
      expectOauthError(await given.exchange(approved, { redirect_uri: other }), 'invalid_grant')
      readTokens(await given.exchange(approved))
    })
  }

  test('D36a that was dropped at registration is refused at use', async () => {
    const cursor = 'cursor://anysphere.cursor-mcp/oauth/callback'
    const client = await given.register({ redirect_uris: [cursor, 'http://localhost:8787/callback'] })
    const answer = await given.authorize(client, { redirect_uri: cursor }, { person: given.owner })
    expectPage(answer, { error: 'invalid_request', parameter: 'redirect_uri' })
    handleOf(await given.authorize(client, { redirect_uri: 'http://localhost:8787/callback' }))
  })

  test('of another client is refused', async () => {
    const [one, other] = [await given.register(), await given.register({ redirect_uris: ['https://other.example/cb'] })]
    const answer = await given.authorize(one, { redirect_uri: other.redirect_uris[0] ?? '' }, { person: given.owner })
    expectPage(answer, { error: 'invalid_request', parameter: 'redirect_uri' })
  })
})

function longUri(length: number): string {
  const start = 'https://app.example/'
  return start + 'a'.repeat(length - start.length)
}
