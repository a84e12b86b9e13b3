import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readBody, sendRaw, type Answer } from '../support/http-client.ts'
import {
  AUTH_URL,
  BASE_URL,
  expectOauthError,
  openOauthServer,
  type OauthServer,
} from '../support/service/oauth-server.ts'

const AS_PATH = '/.well-known/oauth-authorization-server'
const RESOURCE_PATH = '/.well-known/oauth-protected-resource'

/** The metadata of the authorization server (RFC 8414) and of the resources (RFC 9728). */
describe('the metadata', () => {
  let given: OauthServer
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  test("the authorization server's metadata follows the specification, at both paths (D40a)", async () => {
    for (const path of [AS_PATH, `${AS_PATH}/`, `${AS_PATH}/mcp`, `${AS_PATH}/mcp/`]) {
      const answer = await given.ask({ path })
      assert.deepEqual(readBody(answer, 200), {
        issuer: AUTH_URL,
        authorization_endpoint: `${AUTH_URL}/oauth/authorize`,
        token_endpoint: `${AUTH_URL}/oauth/token`,
        registration_endpoint: `${AUTH_URL}/oauth/register`,
        revocation_endpoint: `${AUTH_URL}/oauth/revoke`,
        scopes_supported: ['wallet:read', 'wallet:transfer', 'x402:pay'],
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      })
    }
  })

  const resources: readonly (readonly [string, string, string])[] = [
    [BASE_URL, RESOURCE_PATH, BASE_URL],
    [BASE_URL, `${RESOURCE_PATH}/`, BASE_URL],
    [BASE_URL, `${RESOURCE_PATH}/mcp`, `${BASE_URL}/mcp`],
    [BASE_URL, `${RESOURCE_PATH}/mcp/`, `${BASE_URL}/mcp/`],
    [AUTH_URL, RESOURCE_PATH, AUTH_URL],
    [AUTH_URL, `${RESOURCE_PATH}/mcp`, `${AUTH_URL}/mcp`],
    [AUTH_URL, `${RESOURCE_PATH}/mcp/`, `${AUTH_URL}/mcp/`],
  ]
  for (const [origin, path, resource] of resources) {
    test(`the metadata of the resource ${resource} names it, and is at ${path} (D40)`, async () => {
      const answer = await askHost(new URL(origin).host, path)
      assert.deepEqual(readBody(answer, 200), {
        resource,
        authorization_servers: [AUTH_URL],
        scopes_supported: ['wallet:read', 'wallet:transfer', 'x402:pay'],
        bearer_methods_supported: ['header'],
        resource_name: 'Bursar',
        resource_documentation: `${BASE_URL}/openapi.json`,
      })
    })
  }

  test('offline_access is never offered', async () => {
    for (const path of [AS_PATH, RESOURCE_PATH]) {
      assert.ok(!(await given.ask({ path })).text.includes('offline_access'))
    }
  })

  test('an unknown path is 404 in JSON, never a page', async () => {
    const paths = [
      '/.well-known/openid-configuration',
      '/.well-known/openid-configuration/mcp',
      `${RESOURCE_PATH}/nope`,
      `${RESOURCE_PATH}//`,
      `${RESOURCE_PATH}/mcp//`,
      `${AS_PATH}/nope`,
      '/.well-known/jwks.json',
    ]
    for (const path of paths) {
      const answer = await given.ask({ path, headers: ['accept', 'text/html'] })
      assert.equal(answer.status, 404, path)
      JSON.parse(answer.text)
    }
    for (const path of ['/mcp/.well-known/openid-configuration', `/mcp${RESOURCE_PATH}`]) {
      assert.equal((await given.ask({ path })).status, 404, path)
    }
  })

  test('an unknown host name, in whichever header, is treated as the REST host (D40a)', async () => {
    const restHost = new URL(given.config.baseUrl).host
    for (const path of [AS_PATH, RESOURCE_PATH, `${RESOURCE_PATH}/mcp`]) {
      const asked = await given.ask({ path, host: restHost })
      assert.equal(asked.status, path === AS_PATH ? 404 : 200)
      const expected = asked.text
      const spoofed = await askHost(
        'evil.example',
        path,
        'X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n',
      )
      assert.equal(spoofed.text, expected)
      assert.ok(!expected.includes('evil'))
    }
  })

  test('it can be cached for an hour, supports HEAD, and requires no redirect', async () => {
    for (const path of [AS_PATH, RESOURCE_PATH]) {
      const answer = await given.ask({ path })
      assert.deepEqual([answer.status, answer.headers['cache-control']], [200, 'public, max-age=3600'])
      const head = await given.ask({ path, method: 'HEAD' })
      assert.deepEqual([head.status, head.text], [200, ''])
    }
  })

  test('other methods are 405', async () => {
    for (const path of [AS_PATH, `${AS_PATH}/mcp/`, RESOURCE_PATH, `${RESOURCE_PATH}/mcp`, `${RESOURCE_PATH}/mcp/`]) {
      const answer = await given.ask({ path, method: 'POST', body: {} })
      expectOauthError(answer, 'invalid_request', 405)
      assert.equal(answer.headers.allow, 'GET, HEAD')
    }
  })

  test('only the host of AUTH_URL has an authorization server, not the REST host (D1)', async () => {
    const [restHost, authHost] = [BASE_URL, AUTH_URL].map((origin) => new URL(origin).host)
    const paths = [
      AS_PATH,
      `${AS_PATH}/mcp`,
      `${AS_PATH}/mcp/`,
      '/oauth/authorize',
      '/oauth/token',
      '/oauth/register',
      '/oauth/revoke',
    ]
    for (const path of [...paths, '/oauth/consent']) {
      assert.equal((await askHost(String(restHost), path)).status, 404, path)
      assert.notEqual((await askHost(String(authHost), path)).status, 404, path)
    }
  })

  function askHost(host: string, path: string, headers = ''): Promise<Answer> {
    return sendRaw(given.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: close\r\n\r\n`)
  }
})
