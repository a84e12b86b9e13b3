import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { getAuthorizationRequest } from '../../server/src/domain/connections/queries.ts'
import type { AuthorizationRequest } from '../../server/src/domain/connections/authorization-request.ts'
import {
  AUTH_URL,
  authorizationRequest,
  CODE_CHALLENGE,
  expectPage,
  formatFields,
  handleOf,
  locationOf,
  openOauthServer,
  REDIRECT_URI,
  type Changes,
  type OauthServer,
  type RegisteredClient,
} from '../support/service/oauth-server.ts'

/**
 * Faulty requests that get an error page, and never a redirect to the client: name, changed parameters, error code, and
 * the faulty parameter.
 */
const PAGES: readonly (readonly [string, Changes, string, string?])[] = [
  ['client_id twice (2.1 section 3.1)', { client_id: ['a', 'b'] }, 'invalid_request', 'client_id'],
  ['redirect_uri twice', { redirect_uri: [REDIRECT_URI, REDIRECT_URI] }, 'invalid_request', 'redirect_uri'],
  ['no client_id', { client_id: null }, 'invalid_request', 'client_id'],
  ['an unknown client_id', { client_id: 'svc_client_01ARZ3NDEKTSV4RRFFQ69G5FAV' }, 'invalid_client', 'client_id'],
  ['a malformed client_id', { client_id: `"><b>'` }, 'invalid_client', 'client_id'],
  ['no redirect_uri', { redirect_uri: null }, 'invalid_request', 'redirect_uri'],
  ['another redirect_uri', { redirect_uri: 'https://evil.example/' }, 'invalid_request', 'redirect_uri'],
  ['a malformed redirect_uri', { redirect_uri: 'javascript:alert(1)' }, 'invalid_request', 'redirect_uri'],
  ['NUL in state', { state: 'a\u0000' }, 'invalid_request'],
  ['a line feed in state', { state: 'a\nb' }, 'invalid_request'],
  ['NUL in an unknown parameter', { utm_source: '\u0000' }, 'invalid_request'],
]

/**
 * Faulty requests whose error the client receives by redirect, if a user is signed in: name, changed parameters, error
 * code, and the faulty parameter.
 */
const FAULTS: readonly (readonly [string, Changes, string, string])[] = [
  ['response_type twice (2.1 section 3.1)', { response_type: ['code', 'code'] }, 'invalid_request', 'response_type'],
  ['scope twice', { scope: ['wallet:read', 'wallet:read'] }, 'invalid_request', 'scope'],
  ['code_challenge twice', { code_challenge: [CODE_CHALLENGE, CODE_CHALLENGE] }, 'invalid_request', 'code_challenge'],
  ['an unknown parameter twice', { prompt: ['a', 'b'] }, 'invalid_request', 'prompt'],
  ['an empty code_challenge', { code_challenge: '' }, 'invalid_request', 'code_challenge'],
  ['no response_type', { response_type: null }, 'invalid_request', 'response_type'],
  ['response_type token', { response_type: 'token' }, 'unsupported_response_type', 'response_type'],
  ['response_type id_token', { response_type: 'id_token' }, 'unsupported_response_type', 'response_type'],
  ['response_type code token', { response_type: 'code token' }, 'unsupported_response_type', 'response_type'],
  ['response_mode fragment', { response_mode: 'fragment' }, 'invalid_request', 'response_mode'],
  ['response_mode form_post', { response_mode: 'form_post' }, 'invalid_request', 'response_mode'],
  ['a request object (OIDC Core section 6.1)', { request: 'e30.e30.' }, 'request_not_supported', 'request'],
  ['a request_uri', { request_uri: 'http://127.0.0.1:1/' }, 'request_uri_not_supported', 'request_uri'],
  ['no code_challenge (RFC 7636 section 4.4.1)', { code_challenge: null }, 'invalid_request', 'code_challenge'],
  ['no method', { code_challenge_method: null }, 'invalid_request', 'code_challenge_method'],
  ['plain', { code_challenge_method: 'plain' }, 'invalid_request', 'code_challenge_method'],
  ['s256', { code_challenge_method: 's256' }, 'invalid_request', 'code_challenge_method'],
  ['S512', { code_challenge_method: 'S512' }, 'invalid_request', 'code_challenge_method'],
  ['42 characters', { code_challenge: CODE_CHALLENGE.slice(1) }, 'invalid_request', 'code_challenge'],
  ['44 characters', { code_challenge: `${CODE_CHALLENGE}A` }, 'invalid_request', 'code_challenge'],
  ['128 characters', { code_challenge: 'a'.repeat(128) }, 'invalid_request', 'code_challenge'],
  ['padding', { code_challenge: `${CODE_CHALLENGE}=` }, 'invalid_request', 'code_challenge'],
  [
    'base64 that is not base64url',
    { code_challenge: CODE_CHALLENGE.replace('-', '+') },
    'invalid_request',
    'code_challenge',
  ],
  [
    'spare bits in the last character',
    { code_challenge: CODE_CHALLENGE.replace(/M$/, 'N') },
    'invalid_request',
    'code_challenge',
  ],
  ['no state (D35a)', { state: null }, 'invalid_request', 'state'],
  ['an empty state (D35a)', { state: '' }, 'invalid_request', 'state'],
  ['a state of 4,097 characters', { state: 'a'.repeat(4_097) }, 'invalid_request', 'state'],
  ['only unknown scopes', { scope: 'openid offline_access' }, 'invalid_scope', 'scope'],
  ['only scopes that the client did not register', { scope: 'x402:pay' }, 'invalid_scope', 'scope'],
  ['two spaces (RFC 6749 section 3.3)', { scope: 'wallet:read  x402:pay' }, 'invalid_scope', 'scope'],
  ['a quote', { scope: 'wallet:read "' }, 'invalid_scope', 'scope'],
  ['a backslash', { scope: 'wallet:read \\' }, 'invalid_scope', 'scope'],
  ['a scope with a letter beyond ASCII', { scope: 'wallet:read é' }, 'invalid_scope', 'scope'],
  ['a scope in upper case', { scope: 'WALLET:READ' }, 'invalid_scope', 'scope'],
  ['another resource (RFC 8707 section 2)', { resource: 'https://evil.example/mcp' }, 'invalid_target', 'resource'],
  ['a resource with a fragment', { resource: `${AUTH_URL}/mcp#x` }, 'invalid_target', 'resource'],
  ['a relative resource', { resource: '/mcp' }, 'invalid_target', 'resource'],
  [
    'two resources, one of them of another server',
    { resource: [AUTH_URL, 'https://evil.example'] },
    'invalid_target',
    'resource',
  ],
  ['an agent_id that is not allowed', { agent_id: '..' }, 'invalid_request', 'agent_id'],
]

/** Accepted requests: name, changed parameters, and the stored values that result. */
const TAKEN: readonly (readonly [string, Changes, Partial<AuthorizationRequest>])[] = [
  ['a complete request', {}, { state: 'state-1', scopes: ['wallet:read'], resource: null, agentId: null }],
  [
    'additional parameters of SDKs (2.1 section 3.1)',
    {
      prompt: 'consent',
      nonce: 'n',
      audience: 'a',
      access_type: 'offline',
      login_hint: 'x@y',
      utm_source: 'z',
      'state[]': 'x',
    },
    { state: 'state-1' },
  ],
  ['an empty request object', { request: '', request_uri: '', resource: '' }, { resource: null }],
  ['response_mode query', { response_mode: 'query' }, {}],
  ['an empty scope, which means all registered ones', { scope: '' }, { scopes: ['wallet:read', 'wallet:transfer'] }],
  ['no scope, as the MCP conformance client sends it', { scope: null }, { scopes: ['wallet:read', 'wallet:transfer'] }],
  ['our scopes among unknown ones', { scope: 'openid wallet:read offline_access' }, { scopes: ['wallet:read'] }],
  ['more scopes than were registered', { scope: 'x402:pay wallet:transfer' }, { scopes: ['wallet:transfer'] }],
  [
    'scopes in another order, twice',
    { scope: 'wallet:transfer wallet:read wallet:transfer' },
    { scopes: ['wallet:read', 'wallet:transfer'] },
  ],
  ['a state of 4,096 characters', { state: 'a'.repeat(4_096) }, { state: 'a'.repeat(4_096) }],
  [
    'a resource with a slash, in upper case',
    { resource: 'HTTP://LOCALHOST:4100/mcp/' },
    { resource: 'http://localhost:4100/mcp' },
  ],
  ['two of our resources', { resource: [`${AUTH_URL}/mcp`, AUTH_URL] }, { resource: `${AUTH_URL}/mcp` }],
  ['an agent_id', { agent_id: 'agent one' }, { agentId: 'agent one' }],
  ['an empty agent_id', { agent_id: '' }, { agentId: null }],
]

describe('the authorization endpoint', () => {
  let given: OauthServer
  let client: RegisteredClient
  before(async () => {
    given = await openOauthServer()
    client = await given.register({ scope: 'wallet:read wallet:transfer' })
  })
  after(() => given.close())

  for (const [name, changes, error, parameter] of PAGES) {
    test(`shows a page, whether or not the user is signed in, for ${name}`, async () => {
      for (const call of [{}, { person: given.owner }]) {
        expectPage(await given.authorize(client, changes, call), { error, parameter })
      }
    })
  }

  for (const [name, changes, error, parameter] of FAULTS) {
    test(`shows a page if the user is not signed in, and redirects otherwise, for ${name}`, async () => {
      expectPage(await given.authorize(client, changes), { error, parameter })
      expectPage(await given.authorize(client, changes, { person: { secret: 'nobody' } }), { error, parameter })

      const location = locationOf(await given.authorize(client, changes, { person: given.owner }), 302)
      assert.ok(location.startsWith(`${REDIRECT_URI}?error=${error}&error_description=`), location)
      const answer = [...new URL(location).searchParams]
      const state = 'state' in changes ? changes['state'] : 'state-1'
      // The issuer appears exactly once, and it is our own (RFC 9207, section 2).
      assert.deepEqual(
        answer.filter(([name]) => name === 'iss'),
        [['iss', AUTH_URL]],
      )
      assert.deepEqual(
        answer.filter(([name]) => name === 'state'),
        state === null || state === '' ? [] : [['state', state]],
      )
      // The description contains only characters that are allowed in an error description (RFC 6749, section 5.2).
      assert.match(
        new URL(location).searchParams.get('error_description') ?? '',
        /^[\x20\x21\x23-\x5b\x5d-\x7e]{10,300}$/,
      )
    })
  }

  for (const [name, changes, kept] of TAKEN) {
    test(`accepts ${name}`, async () => {
      const handle = handleOf(await given.authorize(client, changes))
      const request = await getAuthorizationRequest(given.context, { handle })
      assert.deepEqual({ ...request, ...kept }, request)
      assert.deepEqual([request.client.id, request.redirectUri], [client.client_id, REDIRECT_URI])
    })
  }

  test('redirects a valid request to the consent page without leaving it in caches or referrers, signed in or not', async () => {
    for (const call of [{}, { person: given.owner }]) {
      const answer = await given.authorize(client, {}, call)
      assert.notEqual(handleOf(answer), handleOf(await given.authorize(client, {}, call)))
      assert.equal(answer.headers['cache-control'], 'no-store')
      assert.equal(answer.headers['referrer-policy'], 'same-origin')
    }
  })

  test('if state appears twice, the error contains no state', async () => {
    const changes = { state: ['a', 'b'] }
    expectPage(await given.authorize(client, changes), { error: 'invalid_request', parameter: 'state' })
    const location = locationOf(await given.authorize(client, changes, { person: given.owner }), 302)
    assert.deepEqual([...new URL(location).searchParams.keys()], ['error', 'error_description', 'iss'])
  })

  test('an error contains the state exactly as it was sent', async () => {
    for (const state of ['a+b/c=d', '%25&#;%', 'x y  z', '🍜é', '"<script>', 'a'.repeat(2_000)]) {
      const changes = { state, scope: 'openid' }
      const location = locationOf(await given.authorize(client, changes, { person: given.owner }), 302)
      assert.equal(new URL(location).searchParams.get('state'), state)
    }
  })

  test('a query that is not UTF-8, or has a malformed escape, is 400', async () => {
    const query = formatFields({ ...authorizationRequest(client), state: null })
    for (const state of ['%ff', '%zz', '%', '%c0%80', '%ed%a0%80', '%00', '%7f', '%0d%0a']) {
      const answer = await given.ask({ path: `/oauth/authorize?${query}&state=${state}`, person: given.owner })
      expectPage(answer, { error: 'invalid_request' })
    }
  })

  test('other methods are 405, without a side effect', async () => {
    const path = `/oauth/authorize?${formatFields(authorizationRequest(client))}`
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await given.ask({ method, path })
      expectPage(answer, { status: 405, error: 'invalid_request' })
      assert.equal(answer.headers.allow, 'GET')
    }
    const answer = await given.ask({ method: 'HEAD', path })
    assert.deepEqual([answer.status, answer.headers.allow, answer.headers.location], [405, 'GET', undefined])
  })

  test('pages of other sites cannot read the response (2.1 section 3.1)', async () => {
    const headers = ['origin', 'https://app.example']
    for (const changes of [{}, { client_id: null }]) {
      const answer = await given.authorize(client, changes, { headers, person: given.owner })
      assert.equal(answer.headers['access-control-allow-origin'], undefined)
    }
  })

  test('a query that is too large is rejected, and the service continues', async () => {
    const answer = await given.authorize(client, { state: 'a'.repeat(20_000) })
    assert.ok([400, 413, 414, 431].includes(answer.status), String(answer.status))
    handleOf(await given.authorize(client))
  })

  test('a response keeps the query of the redirect URI', async () => {
    const redirect_uri = 'https://app.example/cb?tenant=1&x='
    const other = await given.register({ redirect_uris: [redirect_uri] })
    const location = locationOf(await given.authorize(other, { scope: 'openid' }, { person: given.owner }), 302)
    assert.ok(location.startsWith(`${redirect_uri}&error=invalid_scope&`), location)
  })
})
