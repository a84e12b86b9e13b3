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

/** Accepted registrations: name, body, and the resulting fields of the response. */
const TAKEN: readonly (readonly [string, Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>])[] = [
  [
    'no scope, which means all scopes (D36a)',
    { redirect_uris: URIS },
    { scope: 'wallet:read wallet:transfer x402:pay' },
  ],
  [
    'an empty scope, which means all scopes',
    { redirect_uris: URIS, scope: '' },
    { scope: 'wallet:read wallet:transfer x402:pay' },
  ],
  [
    'scopes, some of them unknown',
    { redirect_uris: URIS, scope: 'openid x402:pay wallet:read' },
    { scope: 'wallet:read x402:pay' },
  ],
  ['no authentication method', { redirect_uris: URIS }, { token_endpoint_auth_method: 'none' }],
  [
    'client_secret_post',
    { redirect_uris: URIS, token_endpoint_auth_method: 'client_secret_post' },
    { token_endpoint_auth_method: 'none' },
  ],
  [
    'private_key_jwt',
    { redirect_uris: URIS, token_endpoint_auth_method: 'private_key_jwt' },
    { token_endpoint_auth_method: 'none' },
  ],
  [
    'grant types that we do not support, as VS Code lists them',
    {
      redirect_uris: URIS,
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    },
    { grant_types: ['authorization_code', 'refresh_token'] },
  ],
  [
    'no refresh tokens',
    { redirect_uris: URIS, grant_types: ['authorization_code'] },
    { grant_types: ['authorization_code', 'refresh_token'] },
  ],
  ['other response types', { redirect_uris: URIS, response_types: ['token', 'code'] }, { response_types: ['code'] }],
  ['an application type', { redirect_uris: URIS, application_type: 'native' }, {}],
  [
    'a name that is too long, which is shortened',
    { redirect_uris: URIS, client_name: `\u202e${'é'.repeat(101)}` },
    { client_name: 'é'.repeat(100) },
  ],
  ['no name, so the host is used', { redirect_uris: ['https://app.example/cb'] }, { client_name: 'app.example' }],
  [
    'no name, and hosts that are too long for one',
    { redirect_uris: [`https://${'a'.repeat(200)}.example/cb`] },
    { client_name: 'a'.repeat(100) },
  ],
  [
    'a name without visible characters, on loopback',
    { redirect_uris: URIS, client_name: '\u200b' },
    { client_name: '127.0.0.1' },
  ],
  [
    'null as the name, as some clients send it',
    { redirect_uris: URIS, client_name: null, scope: null },
    { client_name: '127.0.0.1' },
  ],
  [
    'Cursor’s three redirect URIs, of which one cannot be registered (D36a)',
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
  ['the same redirect URI twice', { redirect_uris: [...URIS, ...URIS] }, { redirect_uris: URIS }],
  ['ten redirect URIs', { redirect_uris: numberedUris(10) }, { redirect_uris: numberedUris(10) }],
  [
    'a redirect URI with a query',
    { redirect_uris: ['https://app.example/cb?tenant=1'] },
    { redirect_uris: ['https://app.example/cb?tenant=1'] },
  ],
]

/** Rejected registrations: name, body, and error code (RFC 7591, section 3.2.2). */
const REFUSED: readonly (readonly [string, Call['body'], 'invalid_redirect_uri' | 'invalid_client_metadata'])[] = [
  ['no redirect_uris', {}, 'invalid_redirect_uri'],
  ['null instead of redirect_uris', { redirect_uris: null }, 'invalid_redirect_uri'],
  ['no redirect URI', { redirect_uris: [] }, 'invalid_redirect_uri'],
  ['redirect_uris that is a string', { redirect_uris: REDIRECT_URI }, 'invalid_redirect_uri'],
  ['redirect_uris that is an object', { redirect_uris: { 0: REDIRECT_URI, length: 1 } }, 'invalid_redirect_uri'],
  ['a number among the redirect URIs', { redirect_uris: [REDIRECT_URI, 7] }, 'invalid_redirect_uri'],
  ['null among the redirect URIs', { redirect_uris: [null] }, 'invalid_redirect_uri'],
  ['eleven redirect URIs', { redirect_uris: numberedUris(11) }, 'invalid_redirect_uri'],
  [
    'only redirect URIs that cannot be registered',
    { redirect_uris: ['cursor://x/cb', 'http://app.example/'] },
    'invalid_redirect_uri',
  ],
  ['our own addresses', { redirect_uris: [`${AUTH_URL}/cb`, `${BASE_URL}/cb`] }, 'invalid_redirect_uri'],
  ['a redirect URI with a code', { redirect_uris: ['https://app.example/cb?code=1'] }, 'invalid_redirect_uri'],
  ['a name that is a number', { redirect_uris: URIS, client_name: 7 }, 'invalid_client_metadata'],
  ['a scope that is a list', { redirect_uris: URIS, scope: ['wallet:read'] }, 'invalid_client_metadata'],
  ['a scope of two spaces', { redirect_uris: URIS, scope: 'wallet:read  x402:pay' }, 'invalid_client_metadata'],
  ['only unknown scopes', { redirect_uris: URIS, scope: 'openid profile' }, 'invalid_client_metadata'],
  ['a list instead of an object', [], 'invalid_client_metadata'],
  ['null', 'null', 'invalid_client_metadata'],
  ['a string instead of an object', '"x"', 'invalid_client_metadata'],
  ['nothing', '', 'invalid_client_metadata'],
  ['a body that is not JSON', '{redirect_uris:', 'invalid_client_metadata'],
  ['a prototype', `{"redirect_uris":["${REDIRECT_URI}"],"__proto__":{}}`, 'invalid_client_metadata'],
  [
    'a constructor with a prototype',
    `{"redirect_uris":["${REDIRECT_URI}"],"constructor":{"prototype":{}}}`,
    'invalid_client_metadata',
  ],
  ['10,000 levels', `{"redirect_uris":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'invalid_client_metadata'],
  ['bytes that are not UTF-8', Buffer.from('{"client_name":"\u00ff"}', 'latin1'), 'invalid_client_metadata'],
]

describe('registration', () => {
  let given: OauthServer
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  test('returns 201 with all registered values, without nulls, secrets or a management address (D37)', async () => {
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
    test(`accepts ${name}`, async () => {
      const answer = await given.ask({ path: PATH, body })
      assert.equal(answer.status, 201, answer.text)
      const client = JSON.parse(answer.text) as object
      assert.deepEqual({ ...client, ...decided }, client)
    })
  }

  for (const [name, body, error] of REFUSED) {
    test(`rejects ${name}: ${error}`, async () => {
      expectOauthError(await given.ask({ path: PATH, method: 'POST', body }), error)
    })
  }

  test('says of each redirect URI which rule it breaks', async () => {
    const uris = ['cursor://x/cb', 'http://app.example/', 'https://app.example/cb#', 'cursor://x/cb', `${AUTH_URL}/cb`]
    const answer = await given.ask({ path: PATH, body: { redirect_uris: uris } })
    const { error_description: description } = JSON.parse(answer.text) as { error_description: string }
    for (const fault of [
      'redirect_uris[0] does not begin with https:// or http://',
      'redirect_uris[1] uses http on a host other than 127.0.0.1, [::1], localhost',
      'redirect_uris[2] has a fragment (#)',
      'redirect_uris[3] does not begin with https:// or http://',
      'redirect_uris[4] is an address of this service',
    ]) {
      assert.ok(description.includes(fault), description)
    }
  })

  test('another content type is invalid_client_metadata, 400', async () => {
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

  test('more than 64 KiB is 413, as JSON', async () => {
    const body = { redirect_uris: URIS, pad: 'x'.repeat(65_536) }
    expectOauthError(await given.ask({ path: PATH, body }), 'invalid_client_metadata', 413)
  })

  test('fetches no URL in the metadata, and neither stores nor returns it', async () => {
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

  test('registering the same metadata again creates another client', async () => {
    const [one, other] = [await given.register(), await given.register()]
    assert.notEqual(one.client_id, other.client_id)
  })

  test('a client cannot be read, changed or deleted', async () => {
    const { client_id } = await given.register()
    for (const method of ['GET', 'PUT', 'DELETE']) {
      assert.equal((await given.ask({ method, path: `${PATH}/${client_id}` })).status, 404)
      const answer = await given.ask({ method, path: `${PATH}?client_id=${client_id}` })
      expectOauthError(answer, 'invalid_request', 405)
      assert.equal(answer.headers.allow, 'POST')
    }
  })

  test('a request that is not HTTP is rejected, also with JSON', async () => {
    const answer = await sendRaw(given.url, `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n`)
    assert.equal(answer.status, 400)
    JSON.parse(answer.text)
  })
})

function numberedUris(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `https://app.example/cb/${index}`)
}
