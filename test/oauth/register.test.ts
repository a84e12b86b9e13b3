import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sendRaw, type Call } from '../support/http-client.ts'
import { startFakeServer } from '../support/wires/fake-server.ts'
import {
  AUTH_URL,
  BASE_URL,
  expectOauthError,
  openOauthServer,
  REDIRECT_URI,
  type OauthServer,
  type RegisteredClient,
} from '../support/service/oauth-server.ts'

const PATH = '/oauth/register'
const URIS = [REDIRECT_URI]

/** Accepted registrations: the body, and the fields of the response that follow from it. */
const TAKEN: readonly (readonly [string, Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>])[] = [
  ['D36a no scope, which is all', { redirect_uris: URIS }, { scope: 'wallet:read wallet:transfer x402:pay' }],
  [
    'an empty scope, which is all',
    { redirect_uris: URIS, scope: '' },
    { scope: 'wallet:read wallet:transfer x402:pay' },
  ],
  [
    'scopes, unknown ones among them',
    { redirect_uris: URIS, scope: 'openid x402:pay wallet:read' },
    { scope: 'wallet:read x402:pay' },
  ],
  ['J2 no authentication method', { redirect_uris: URIS }, { token_endpoint_auth_method: 'none' }],
  [
    'J2 client_secret_post',
    { redirect_uris: URIS, token_endpoint_auth_method: 'client_secret_post' },
    { token_endpoint_auth_method: 'none' },
  ],
  [
    'J2 private_key_jwt',
    { redirect_uris: URIS, token_endpoint_auth_method: 'private_key_jwt' },
    { token_endpoint_auth_method: 'none' },
  ],
  [
    'J3 grants that we do not have, as VS Code lists them',
    {
      redirect_uris: URIS,
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    },
    { grant_types: ['authorization_code', 'refresh_token'] },
  ],
  [
    'J3 no refresh tokens',
    { redirect_uris: URIS, grant_types: ['authorization_code'] },
    { grant_types: ['authorization_code', 'refresh_token'] },
  ],
  ['J4 other response types', { redirect_uris: URIS, response_types: ['token', 'code'] }, { response_types: ['code'] }],
  ['J5 an application type', { redirect_uris: URIS, application_type: 'native' }, {}],
  [
    'J8 a name to be cut',
    { redirect_uris: URIS, client_name: `\u202e${'é'.repeat(101)}` },
    { client_name: 'é'.repeat(100) },
  ],
  [
    'J8 no name, for which the host stands',
    { redirect_uris: ['https://app.example/cb'] },
    { client_name: 'app.example' },
  ],
  [
    'J8 no name, and hosts too long for one',
    { redirect_uris: [`https://${'a'.repeat(200)}.example/cb`] },
    { client_name: 'a'.repeat(100) },
  ],
  ['J8 a name of nothing, on loopback', { redirect_uris: URIS, client_name: '\u200b' }, { client_name: '127.0.0.1' }],
  [
    'a name of null, as some clients send it',
    { redirect_uris: URIS, client_name: null, scope: null },
    { client_name: '127.0.0.1' },
  ],
  [
    'D36a Cursor’s three redirect URIs, of which one cannot be registered',
    {
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      application_type: 'web',
    },
    { redirect_uris: ['https://www.cursor.com/agents/mcp/oauth/callback', 'http://localhost:8787/callback'] },
  ],
  ['B13 the same redirect URI twice', { redirect_uris: [...URIS, ...URIS] }, { redirect_uris: URIS }],
  ['B13 ten redirect URIs', { redirect_uris: numberedUris(10) }, { redirect_uris: numberedUris(10) }],
  [
    'A13 a redirect URI with a query',
    { redirect_uris: ['https://app.example/cb?tenant=1'] },
    { redirect_uris: ['https://app.example/cb?tenant=1'] },
  ],
]

/** Rejected registrations: the body, and the error (RFC 7591, section 3.2.2). */
const REFUSED: readonly (readonly [string, Call['body'], 'invalid_redirect_uri' | 'invalid_client_metadata'])[] = [
  ['J6 no redirect_uris', {}, 'invalid_redirect_uri'],
  ['J6 redirect_uris of null', { redirect_uris: null }, 'invalid_redirect_uri'],
  ['J6 no redirect URI', { redirect_uris: [] }, 'invalid_redirect_uri'],
  ['J6 redirect_uris that is a string', { redirect_uris: REDIRECT_URI }, 'invalid_redirect_uri'],
  ['J6 redirect_uris that is an object', { redirect_uris: { 0: REDIRECT_URI, length: 1 } }, 'invalid_redirect_uri'],
  ['J6 a number among them', { redirect_uris: [REDIRECT_URI, 7] }, 'invalid_redirect_uri'],
  ['J6 null among them', { redirect_uris: [null] }, 'invalid_redirect_uri'],
  ['B13 eleven redirect URIs', { redirect_uris: numberedUris(11) }, 'invalid_redirect_uri'],
  [
    'B10 only such as cannot be registered',
    { redirect_uris: ['cursor://x/cb', 'http://app.example/'] },
    'invalid_redirect_uri',
  ],
  ['B14 our own addresses', { redirect_uris: [`${AUTH_URL}/cb`, `${BASE_URL}/cb`] }, 'invalid_redirect_uri'],
  ['A13 a redirect URI with a code', { redirect_uris: ['https://app.example/cb?code=1'] }, 'invalid_redirect_uri'],
  ['a name that is a number', { redirect_uris: URIS, client_name: 7 }, 'invalid_client_metadata'],
  ['a scope that is a list', { redirect_uris: URIS, scope: ['wallet:read'] }, 'invalid_client_metadata'],
  ['a scope of two spaces', { redirect_uris: URIS, scope: 'wallet:read  x402:pay' }, 'invalid_client_metadata'],
  ['only scopes that nobody knows', { redirect_uris: URIS, scope: 'openid profile' }, 'invalid_client_metadata'],
  ['J6 a list', [], 'invalid_client_metadata'],
  ['J6 null', 'null', 'invalid_client_metadata'],
  ['J6 a string', '"x"', 'invalid_client_metadata'],
  ['J6 nothing', '', 'invalid_client_metadata'],
  ['J6 what is not JSON', '{redirect_uris:', 'invalid_client_metadata'],
  ['J6 a prototype', `{"redirect_uris":["${REDIRECT_URI}"],"__proto__":{}}`, 'invalid_client_metadata'],
  [
    'J6 a constructor with a prototype',
    `{"redirect_uris":["${REDIRECT_URI}"],"constructor":{"prototype":{}}}`,
    'invalid_client_metadata',
  ],
  ['J6 10,000 levels', `{"redirect_uris":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'invalid_redirect_uri'],
  ['J6 bytes that are not UTF-8', Buffer.from('{"client_name":"\u00ff"}', 'latin1'), 'invalid_client_metadata'],
]

describe('registration', () => {
  let given: OauthServer
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  test('J1 J12 D37 answers 201 with all that is registered, without nulls, secrets or an address to manage it', async () => {
    const body = {
      client_name: 'Claude Code',
      redirect_uris: ['http://localhost/callback', 'https://a.example/cb'],
      scope: 'wallet:read',
    }
    const answer = await given.ask({ path: PATH, body })
    assert.equal(answer.status, 201)
    assert.equal(answer.headers['cache-control'], 'no-store')
    const client = JSON.parse(answer.text) as RegisteredClient
    assert.deepEqual(client, {
      client_id: client.client_id,
      client_id_issued_at: client.client_id_issued_at,
      ...body,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
    assert.match(client.client_id, /^svc_client_[0-9A-Z]{26}$/)
    const now = given.service.clock.now().getTime() / 1_000
    assert.ok(Number.isInteger(client.client_id_issued_at) && Math.abs(client.client_id_issued_at - now) < 60)
  })

  for (const [name, body, decided] of TAKEN) {
    test(`takes ${name}`, async () => {
      const answer = await given.ask({ path: PATH, body })
      assert.equal(answer.status, 201, answer.text)
      const client = JSON.parse(answer.text) as object
      assert.deepEqual({ ...client, ...decided }, client)
    })
  }

  for (const [name, body, error] of REFUSED) {
    test(`refuses ${name}: ${error}`, async () => {
      expectOauthError(await given.ask({ path: PATH, method: 'POST', body }), error)
    })
  }

  test('J6 another content type is invalid_client_metadata, 400', async () => {
    const body = JSON.stringify({ redirect_uris: URIS })
    for (const type of [
      null,
      '',
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'multipart/form-data',
    ]) {
      expectOauthError(await given.ask({ path: PATH, body, type }), 'invalid_client_metadata')
    }
    expectOauthError(await given.ask({ path: PATH, method: 'POST' }), 'invalid_client_metadata')
    const types = ['application/json; charset=utf-8', 'APPLICATION/JSON']
    for (const type of types) assert.equal((await given.ask({ path: PATH, body, type })).status, 201)
  })

  test('J6 more than 64 KiB is 413, in JSON', async () => {
    const body = { redirect_uris: URIS, pad: 'x'.repeat(65_536) }
    expectOauthError(await given.ask({ path: PATH, body }), 'invalid_client_metadata', 413)
  })

  test('J7 J9 fetches nothing that the metadata names, and neither keeps nor returns it', async () => {
    const asked: string[] = []
    const server = await startFakeServer((request, _body, response) => {
      asked.push(String(request.url))
      response.end()
    })
    try {
      const names = [
        'client_uri',
        'logo_uri',
        'tos_uri',
        'policy_uri',
        'jwks_uri',
        'sector_identifier_uri',
        'initiate_login_uri',
      ]
      const named = Object.fromEntries(names.map((name) => [name, `${server.url}/${name}`]))
      const client = await given.register({
        ...named,
        request_uris: [server.url],
        software_statement: 'e30.e30.',
        contacts: ['a@b'],
      })
      assert.ok(names.every((name) => !(name in client)))
      assert.ok(!('software_statement' in client) && !('request_uris' in client) && !('contacts' in client))
      assert.deepEqual(asked, [])
    } finally {
      await server.close()
    }
  })

  test('J11 the same metadata again is another client', async () => {
    const [one, other] = [await given.register(), await given.register()]
    assert.notEqual(one.client_id, other.client_id)
  })

  test('J12 a client can neither be read, changed nor deleted', async () => {
    const { client_id } = await given.register()
    for (const method of ['GET', 'PUT', 'DELETE']) {
      assert.equal((await given.ask({ method, path: `${PATH}/${client_id}` })).status, 404)
      const answer = await given.ask({ method, path: `${PATH}?client_id=${client_id}` })
      expectOauthError(answer, 'invalid_request', 405)
      assert.equal(answer.headers.allow, 'POST')
    }
  })

  test('what is no HTTP is refused in JSON too', async () => {
    const answer = await sendRaw(given.url, `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n`)
    assert.equal(answer.status, 400)
    JSON.parse(answer.text)
  })
})

function numberedUris(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `https://app.example/cb/${index}`)
}
