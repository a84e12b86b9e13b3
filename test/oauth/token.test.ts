import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { Call } from '../support/http-client.ts'
import {
  AUTH_URL,
  BASE_URL,
  challengeOf,
  expectOauthError,
  FORM_TYPE,
  formatFields,
  openOauthServer,
  readTokens,
  type ApprovedCode,
  type Changes,
  type OauthServer,
  type RegisteredClient,
  type WireTokens,
} from '../support/service/oauth-server.ts'

const PATH = '/oauth/token'
const UNKNOWN_CLIENT = 'svc_client_01ARZ3NDEKTSV4RRFFQ69G5FAV'

/** Faulty exchanges: name, changes to a valid exchange, and the error. The code is still unused afterwards. */
const EXCHANGE_FAULTS: readonly (readonly [string, Changes, string])[] = [
  ['no grant_type', { grant_type: null }, 'invalid_request'],
  ['an empty grant_type', { grant_type: '' }, 'invalid_request'],
  ['password', { grant_type: 'password' }, 'unsupported_grant_type'],
  ['implicit', { grant_type: 'implicit' }, 'unsupported_grant_type'],
  ['client_credentials', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  ['a device code', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code' }, 'unsupported_grant_type'],
  ['token exchange', { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' }, 'unsupported_grant_type'],
  ['a grant_type in another case', { grant_type: 'Authorization_Code' }, 'unsupported_grant_type'],
  [
    "a grant_type that is the name of an object's built-in property",
    { grant_type: 'constructor' },
    'unsupported_grant_type',
  ],
  ['no client_id', { client_id: null }, 'invalid_request'],
  ['an unknown client_id', { client_id: UNKNOWN_CLIENT }, 'invalid_client'],
  ['a malformed client_id', { client_id: '"\\' }, 'invalid_client'],
  ['no code', { code: null }, 'invalid_request'],
  ['a malformed code', { code: 'svc_oac_x' }, 'invalid_grant'],
  [
    'an access token instead of a code',
    { code: 'svc_oat_0000000000000000000000000000000000000000000000000' },
    'invalid_grant',
  ],
  ['no code_verifier', { code_verifier: null }, 'invalid_request'],
  ['no redirect_uri', { redirect_uri: null }, 'invalid_request'],
  [
    'grant_type twice (2.1 section 3.2)',
    { grant_type: ['authorization_code', 'authorization_code'] },
    'invalid_request',
  ],
  ['code twice', { code: ['a', 'b'] }, 'invalid_request'],
  ['client_id twice', { client_id: ['a', 'b'] }, 'invalid_request'],
  ['an unknown parameter twice', { x: ['a', 'b'] }, 'invalid_request'],
  [
    'a parameter twice whose name is not allowed in an error description',
    { '"é\\\u202e': ['a', 'b'] },
    'invalid_request',
  ],
  ['a resource of another server (RFC 8707 section 2)', { resource: 'https://evil.example' }, 'invalid_target'],
  ['two resources, one of them of another server', { resource: [AUTH_URL, 'https://evil.example'] }, 'invalid_target'],
  ['NUL', { code: 'a\u0000' }, 'invalid_request'],
]

const WRONG_VERIFIERS: readonly (readonly [string, string])[] = [
  ['42 characters', 'a'.repeat(42)],
  ['129 characters', 'a'.repeat(129)],
  ['a plus', `${'a'.repeat(43)}+`],
  ['a slash', `${'a'.repeat(43)}/`],
  ['a per cent sign', `${'a'.repeat(43)}%`],
  ['a space', `${'a'.repeat(43)} `],
  ['a letter beyond ASCII', `${'a'.repeat(43)}é`],
]

describe('the token endpoint', () => {
  let given: OauthServer
  let client: RegisteredClient
  before(async () => {
    given = await openOauthServer()
    client = await given.register()
  })
  after(() => given.close())

  describe('exchanging a code', () => {
    let approved: ApprovedCode
    beforeEach(async () => {
      approved = await given.approveCode(client)
    })
    // Each test leaves the code unused, so a valid exchange must succeed afterwards.
    afterEach(async () => {
      readTokens(await given.exchange(approved))
    })
    for (const [name, changes, error] of EXCHANGE_FAULTS) {
      test(`rejects ${name}, and does not use up the code: ${error}`, async () => {
        expectOauthError(await given.exchange(approved, changes), error)
      })
    }

    test('rejects bodies that are not forms', async () => {
      const fields = { grant_type: 'authorization_code', code: approved.code, client_id: client.client_id }
      const calls: Partial<Call>[] = [
        { body: fields, type: 'application/json' },
        { body: formatFields(fields), type: null },
        { body: formatFields(fields), type: '' },
        { body: formatFields(fields), type: 'text/plain' },
        { body: formatFields(fields), type: `${FORM_TYPE}x` },
        { body: formatFields(fields), type: `${FORM_TYPE}, ${FORM_TYPE}` },
        { body: formatFields(fields), type: 'multipart/form-data; boundary=x' },
        { body: '', type: FORM_TYPE },
        { body: Buffer.from('code=\u00ff', 'latin1'), type: FORM_TYPE },
        { body: 'code=%zz', type: FORM_TYPE },
        { body: '&&&=&', type: FORM_TYPE },
        { method: 'POST' },
      ]
      for (const call of calls) expectOauthError(await given.ask({ path: PATH, ...call }), 'invalid_request')
    })

    test('ignores parameters in the query (2.1 section 3.2)', async () => {
      const fields = formatFields({
        grant_type: 'authorization_code',
        code: approved.code,
        code_verifier: approved.verifier,
        client_id: client.client_id,
        redirect_uri: approved.redirectUri,
      })
      for (const body of ['', formatFields({ client_id: client.client_id })]) {
        expectOauthError(await given.post(`${PATH}?${fields}`, body), 'invalid_request')
      }
    })

    test('rejects other methods with 405', async () => {
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await given.ask({ method, path: `${PATH}?code=${approved.code}` })
        assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST'])
        if (method !== 'HEAD') expectOauthError(answer, 'invalid_request', 405)
      }
    })

    test('rejects HTTP authentication, and sends a challenge only to clients that tried it (RFC 6749 section 5.2)', async () => {
      for (const scheme of ['Basic', 'basic']) {
        const credentials = Buffer.from(`${client.client_id}:`).toString('base64')
        const headers = ['authorization', `${scheme} ${credentials}`]
        for (const changes of [{}, { client_id: null }, { client_id: UNKNOWN_CLIENT }]) {
          const answer = await given.exchange(approved, changes, { headers })
          expectOauthError(answer, 'invalid_client')
          assert.match(String(answer.headers['www-authenticate']), /^Basic realm="/)
        }
      }
      const answer = await given.exchange(approved, { client_id: UNKNOWN_CLIENT })
      expectOauthError(answer, 'invalid_client')
      assert.equal(answer.headers['www-authenticate'], undefined)
    })

    test('rejects another redirect_uri, another client, and the challenge instead of the verifier', async () => {
      const other = await given.register()
      const changes = { redirect_uri: 'http://127.0.0.1:33419/callback' }
      expectOauthError(await given.exchange(approved, changes), 'invalid_grant')
      expectOauthError(await given.exchange(approved, { client_id: other.client_id }), 'invalid_grant')
      expectOauthError(
        await given.exchange(approved, { code_verifier: challengeOf(approved.verifier) }),
        'invalid_grant',
      )
    })
  })

  test('returns tokens as RFC 6749, section 5.1, requires, without nulls, and never to be cached', async () => {
    const answer = await given.exchange(await given.approveCode(client, { scope: 'wallet:transfer wallet:read' }))
    const tokens = readTokens(answer)
    assert.match(String(answer.headers['content-type']), /^application\/json\b/)
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers.pragma, 'no-cache')
    assert.deepEqual(tokens, {
      access_token: tokens.access_token,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: tokens.refresh_token,
      scope: 'wallet:read wallet:transfer',
    })
    assert.match(tokens.access_token, /^svc_oat_[0-9A-Za-z]{49}$/)
    assert.match(tokens.refresh_token, /^svc_ort_[0-9A-Za-z]{49}$/)
    const me = await given.ask({ path: '/v1/me', key: tokens.access_token })
    assert.equal(me.status, 200, me.text)
  })

  for (const [name, verifier] of WRONG_VERIFIERS) {
    test(`rejects a code_verifier with ${name}: invalid_grant`, async () => {
      const approved = await given.approveCode(client)
      expectOauthError(await given.exchange(approved, { code_verifier: verifier }), 'invalid_grant')
      readTokens(await given.exchange(approved))
    })
  }

  test('accepts verifiers of 43 and of 128 characters, with all unreserved characters', async () => {
    for (const verifier of ['a'.repeat(43), '-._~'.repeat(32)]) {
      const approved = await given.approveCode(client, { code_challenge: challengeOf(verifier) })
      readTokens(await given.exchange({ ...approved, verifier }))
    }
  })

  test('accepts the content type in any case, and with a charset', async () => {
    for (const type of [`${FORM_TYPE}; charset=UTF-8`, FORM_TYPE.toUpperCase(), `${FORM_TYPE};charset=utf-8`]) {
      readTokens(await given.exchange(await given.approveCode(client), {}, { type }))
    }
  })

  test('ignores a client_secret, a scope and unknown parameters, and accepts the authorized resource', async () => {
    const resource = `${BASE_URL}/mcp`
    const approved = await given.approveCode(client, { resource })
    expectOauthError(await given.exchange(approved, { resource: AUTH_URL }), 'invalid_target')
    const changes = { client_secret: 'x', scope: 'x402:pay "', audience: 'y', resource: `${resource}/` }
    assert.equal(readTokens(await given.exchange(approved, changes)).scope, 'wallet:read')
  })

  test('a second valid exchange ends the connection; an invalid one does not', async () => {
    const approved = await given.approveCode(client)
    const tokens = readTokens(await given.exchange(approved))
    const other = await given.register()
    for (const changes of [
      { code_verifier: 'b'.repeat(43) },
      { client_id: other.client_id },
      { redirect_uri: 'http://127.0.0.1/x' },
    ]) {
      expectOauthError(await given.exchange(approved, changes), 'invalid_grant')
      assert.equal(await statusOfMe(tokens), 200)
    }
    expectOauthError(await given.exchange(approved), 'invalid_grant')
    assert.equal(await statusOfMe(tokens), 401)
    expectOauthError(await given.refresh({ ...tokens, client }), 'invalid_grant')
  })

  test('five wrong exchanges end a code', async () => {
    const approved = await given.approveCode(client)
    for (let index = 0; index < 5; index += 1) {
      expectOauthError(await given.exchange(approved, { code_verifier: 'b'.repeat(43) }), 'invalid_grant')
    }
    expectOauthError(await given.exchange(approved), 'invalid_grant')
  })

  test('a refresh issues new tokens and keeps the old access token valid; reusing the old refresh token ends all of them', async () => {
    const first = await given.obtainTokens(client)
    const second = readTokens(await given.refresh(first))
    assert.notEqual(second.refresh_token, first.refresh_token)
    assert.notEqual(second.access_token, first.access_token)
    assert.deepEqual([await statusOfMe(first), await statusOfMe(second)], [200, 200])
    expectOauthError(await given.refresh(first), 'invalid_grant')
    assert.deepEqual([await statusOfMe(first), await statusOfMe(second)], [401, 401])
    expectOauthError(await given.refresh({ ...second, client }), 'invalid_grant')
  })

  test('a refresh may request fewer scopes, and the next one without scope gets all again', async () => {
    const first = await given.obtainTokens(client, { scope: 'wallet:read wallet:transfer' })
    const second = readTokens(await given.refresh(first, { scope: 'wallet:read wallet:read' }))
    assert.equal(second.scope, 'wallet:read')
    const third = readTokens(await given.refresh({ ...second, client }, { scope: '' }))
    assert.equal(third.scope, 'wallet:read wallet:transfer')
    const fourth = readTokens(await given.refresh({ ...third, client }, { scope: 'wallet:transfer wallet:read' }))
    assert.equal(fourth.scope, 'wallet:read wallet:transfer')
  })

  test('a refresh ignores unknown scopes, as long as a known one is left (D50)', async () => {
    const first = await given.obtainTokens(client, { scope: 'wallet:read wallet:transfer' })
    const second = readTokens(await given.refresh(first, { scope: 'openid wallet:read offline_access' }))
    assert.equal(second.scope, 'wallet:read')
  })

  test('a rejected refresh does not use up the refresh token', async () => {
    const other = await given.register()
    const tokens = await given.obtainTokens(client, { resource: BASE_URL })
    const faults: readonly (readonly [Changes, string])[] = [
      [{ scope: 'wallet:read x402:pay' }, 'invalid_scope'],
      [{ scope: 'openid offline_access' }, 'invalid_scope'],
      [{ scope: 'wallet:read  wallet:read' }, 'invalid_scope'],
      [{ resource: AUTH_URL }, 'invalid_target'],
      [{ resource: 'https://evil.example' }, 'invalid_target'],
      [{ client_id: other.client_id }, 'invalid_grant'],
      [{ client_id: UNKNOWN_CLIENT }, 'invalid_client'],
      [{ client_id: null }, 'invalid_request'],
      [{ refresh_token: null }, 'invalid_request'],
      [{ refresh_token: tokens.access_token }, 'invalid_grant'],
      [{ refresh_token: tokens.code }, 'invalid_grant'],
      [{ refresh_token: 'svc_ort_x' }, 'invalid_grant'],
      [{ refresh_token: ['a', 'b'] }, 'invalid_request'],
    ]
    for (const [changes, error] of faults) expectOauthError(await given.refresh(tokens, changes), error)
    readTokens(await given.refresh(tokens, { resource: BASE_URL }))
    assert.equal((await given.ask({ path: '/v1/me', key: tokens.refresh_token })).status, 401)
  })

  test('an empty client_secret and an empty resource are treated as missing', async () => {
    readTokens(await given.exchange(await given.approveCode(client), { client_secret: '', resource: '' }))
  })

  async function statusOfMe({ access_token }: Pick<WireTokens, 'access_token'>): Promise<number> {
    return (await given.ask({ path: '/v1/me', key: access_token })).status
  }
})

describe('the token endpoint after the clock was moved', () => {
  let given: OauthServer
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  test('a code is valid for almost a minute, and not for 60 seconds', async () => {
    const [early, late] = [await given.approveCode(), await given.approveCode()]
    given.service.clock.setOffset(45_000)
    readTokens(await given.exchange(early))
    given.service.clock.setOffset(60_000)
    expectOauthError(await given.exchange(late), 'invalid_grant')
  })
})
