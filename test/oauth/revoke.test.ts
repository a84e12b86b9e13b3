import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  expectOauthError,
  FORM_TYPE,
  openOauthServer,
  readTokens,
  type Changes,
  type OauthServer,
  type RegisteredClient,
} from '../support/service/oauth-server.ts'

const PATH = '/oauth/revoke'
const UNKNOWN_CLIENT = 'svc_client_01ARZ3NDEKTSV4RRFFQ69G5FAV'

/** Revoking any of a connection's tokens ends the whole connection (RFC 7009, D36). */
describe('revocation', () => {
  let given: OauthServer
  let client: RegisteredClient
  before(async () => {
    given = await openOauthServer()
    client = await given.register()
  })
  after(() => given.close())

  for (const kind of ['access_token', 'refresh_token'] as const) {
    for (const hint of [null, 'access_token', 'refresh_token', 'something_else']) {
      test(`revoking the ${kind}, with the hint ${hint}, ends both tokens at once`, async () => {
        const tokens = await given.obtainTokens(client)
        const fields = { token: tokens[kind], client_id: client.client_id, token_type_hint: hint }
        await expectRevoked(fields)
        assert.equal((await given.ask({ path: '/v1/me', key: tokens.access_token })).status, 401)
        expectOauthError(await given.refresh(tokens), 'invalid_grant')
        await expectRevoked(fields)
      })
    }
  }

  test('revoking a rotated refresh token also ends the tokens that replaced it', async () => {
    const first = await given.obtainTokens(client)
    const second = readTokens(await given.refresh(first))
    await expectRevoked({ token: first.refresh_token, client_id: client.client_id })
    assert.equal((await given.ask({ path: '/v1/me', key: second.access_token })).status, 401)
    expectOauthError(await given.refresh({ ...second, client }), 'invalid_grant')
  })

  test('requires no client_id: the token is enough', async () => {
    const tokens = await given.obtainTokens(client)
    await expectRevoked({ token: tokens.access_token })
    assert.equal((await given.ask({ path: '/v1/me', key: tokens.access_token })).status, 401)
  })

  test('revoking an unknown or expired token gets the same response', async () => {
    const tokens = await given.obtainTokens(client)
    const strange = [
      'x',
      'svc_oat_',
      `svc_oat_${'0'.repeat(49)}`,
      tokens.code,
      `${tokens.access_token}x`,
      'é"\\',
      '1'.repeat(60_000),
    ]
    for (const token of strange) await expectRevoked({ token, client_id: client.client_id })
    assert.equal((await given.ask({ path: '/v1/me', key: tokens.access_token })).status, 200)
  })

  test('revoking a token of another client gets the same response, and has no effect', async () => {
    const tokens = await given.obtainTokens(client)
    const other = await given.register()
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      await expectRevoked({ token, client_id: other.client_id })
    }
    assert.equal((await given.ask({ path: '/v1/me', key: tokens.access_token })).status, 200)
    readTokens(await given.refresh(tokens))
  })

  const faults: readonly (readonly [string, Changes, string])[] = [
    ['no token', { token: null }, 'invalid_request'],
    ['an empty token', { token: '' }, 'invalid_request'],
    ['two tokens', { token: ['a', 'b'] }, 'invalid_request'],
    ['an unknown client', { client_id: UNKNOWN_CLIENT }, 'invalid_client'],
    ['two clients', { client_id: ['a', 'b'] }, 'invalid_request'],
  ]
  for (const [name, changes, error] of faults) {
    test(`rejects ${name}: ${error}`, async () => {
      const answer = await given.post(PATH, { token: 'x', client_id: client.client_id, ...changes })
      expectOauthError(answer, error)
    })
  }

  test('rejects bodies that are not forms, and ignores a token in the query', async () => {
    const { access_token: token } = await given.obtainTokens(client)
    for (const call of [{ body: { token } }, { body: `token=${token}`, type: 'text/plain' }, { method: 'POST' }]) {
      expectOauthError(await given.ask({ path: PATH, ...call }), 'invalid_request')
    }
    const path = `${PATH}?token=${token}`
    expectOauthError(await given.ask({ path, body: '', type: FORM_TYPE }), 'invalid_request')
    assert.equal((await given.ask({ path, method: 'GET' })).status, 405)
    assert.equal((await given.ask({ path: '/v1/me', key: token })).status, 200)
  })

  test('rejects HTTP authentication', async () => {
    const headers = ['authorization', `Basic ${Buffer.from(`${client.client_id}:`).toString('base64')}`]
    const answer = await given.post(PATH, { token: 'x' }, { headers })
    expectOauthError(answer, 'invalid_client')
    assert.match(String(answer.headers['www-authenticate']), /^Basic /)
  })

  async function expectRevoked(fields: Changes): Promise<void> {
    const answer = await given.post(PATH, fields)
    assert.deepEqual([answer.status, answer.text, answer.headers['cache-control']], [200, '{}', 'no-store'])
    assert.match(String(answer.headers['content-type']), /^application\/json\b/)
  }
})
