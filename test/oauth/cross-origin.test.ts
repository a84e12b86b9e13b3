import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openOauthServer, type OauthServer } from '../support/service/oauth-server.ts'

const PROGRAMS: readonly (readonly [string, string])[] = [
  ['/.well-known/oauth-authorization-server', 'GET'],
  ['/.well-known/oauth-authorization-server/mcp', 'GET'],
  ['/.well-known/oauth-protected-resource', 'GET'],
  ['/.well-known/oauth-protected-resource/mcp', 'GET'],
  ['/oauth/register', 'POST'],
  ['/oauth/token', 'POST'],
  ['/oauth/revoke', 'POST'],
]
/** The request headers that OAuth and MCP SDKs send from browsers. */
const SDK_HEADERS = [
  'content-type',
  'authorization',
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
]
const ORIGIN = ['origin', 'https://app.example']

/** Pages of other origins may call the endpoints that clients in a browser need, and no other endpoints (D41). */
describe('pages of other sites', () => {
  let given: OauthServer
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  for (const [path, method] of PROGRAMS) {
    test(`may call ${path} without credentials, and read its errors too`, async () => {
      const headers = [
        ...ORIGIN,
        'access-control-request-method',
        method,
        'access-control-request-headers',
        SDK_HEADERS.join(),
      ]
      const preflight = await given.ask({ method: 'OPTIONS', path, headers })
      assert.equal(preflight.status, 204)
      assert.equal(preflight.headers['access-control-allow-origin'], '*')
      assert.ok(String(preflight.headers['access-control-allow-methods']).includes(method))
      const allowed = String(preflight.headers['access-control-allow-headers']).toLowerCase().split(/, */)
      for (const name of SDK_HEADERS) assert.ok(allowed.includes(name), name)

      for (const call of [{ method }, { method: 'PATCH' }, { method, body: 'x', type: 'text/plain' }]) {
        if (call.method === 'GET' && 'body' in call) continue
        const answer = await given.ask({ path, headers: ORIGIN, ...call })
        assert.equal(answer.headers['access-control-allow-origin'], '*')
        assert.equal(answer.headers['access-control-allow-credentials'], undefined)
      }
    })
  }

  for (const path of ['/oauth/authorize', '/oauth/consent']) {
    test(`may not call ${path} or read its response (2.1 section 3.1)`, async () => {
      for (const method of ['OPTIONS', 'GET', 'POST']) {
        const answer = await given.ask({ method, path, headers: [...ORIGIN, 'access-control-request-method', 'GET'] })
        assert.ok(answer.status >= 400)
        const names = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))
        assert.deepEqual(names, [])
      }
    })
  }
})
