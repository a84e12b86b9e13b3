import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import * as oauth from 'oauth4webapi'
import type { Answer } from '../support/http-client.ts'
import {
  AUTH_URL,
  expectOauthError,
  FORM_TYPE,
  openOauthServer,
  REDIRECT_URI,
  type OauthServer,
  type RegisteredClient,
} from '../support/service/oauth-server.ts'
import { ANY_CHARACTER } from '../support/any-character.ts'
import { anyUrl } from '../support/any-url.ts'

const RUNS = 150
const SERVER: oauth.AuthorizationServer = { issuer: AUTH_URL }

const text = fc.string({ unit: ANY_CHARACTER, maxLength: 80 })
const bytes = fc.uint8Array({ maxLength: 300 })

describe('errors of the JSON endpoints', () => {
  let given: OauthServer
  let client: RegisteredClient
  before(async () => {
    given = await openOauthServer()
    client = await given.register()
  })
  after(() => given.close())

  test('oauth4webapi recognizes an error of the token endpoint', async () => {
    const whole = { grant_type: 'refresh_token', refresh_token: 'x', client_id: client.client_id }
    const answers: readonly (readonly [string, Promise<Answer>])[] = [
      ['invalid_request', given.post('/oauth/token', '')],
      ['invalid_request', given.post('/oauth/token', { ...whole, refresh_token: null })],
      ['invalid_request', given.post('/oauth/token', { ...whole, x: ['a', 'b'] })],
      ['invalid_request', given.ask({ path: '/oauth/token', body: whole })],
      ['invalid_request', given.ask({ path: '/oauth/token', method: 'GET' })],
      ['invalid_request', given.post('/oauth/token', 'a'.repeat(70_000))],
      ['invalid_client', given.post('/oauth/token', { ...whole, client_id: 'x' })],
      ['invalid_grant', given.post('/oauth/token', whole)],
      ['invalid_grant', given.post('/oauth/token', { ...whole, scope: 'openid' })],
      ['invalid_target', given.post('/oauth/token', { ...whole, resource: 'https://evil.example' })],
      ['unsupported_grant_type', given.post('/oauth/token', { ...whole, grant_type: 'password' })],
    ]
    for (const [error, answer] of answers) {
      const response = toResponse(await answer)
      const { client_id } = client
      await expectTyped(oauth.processRefreshTokenResponse(SERVER, { client_id }, response.clone()), error)
      await expectTyped(oauth.processGenericTokenEndpointResponse(SERVER, { client_id }, response), error)
    }
  })

  test('oauth4webapi recognizes an error of the revocation endpoint', async () => {
    const answers: readonly (readonly [string, Promise<Answer>])[] = [
      ['invalid_request', given.post('/oauth/revoke', '')],
      ['invalid_request', given.post('/oauth/revoke', { token: ['a', 'b'] })],
      ['invalid_request', given.ask({ path: '/oauth/revoke', body: { token: 'x' } })],
      ['invalid_client', given.post('/oauth/revoke', { token: 'x', client_id: 'x' })],
    ]
    for (const [error, answer] of answers)
      await expectTyped(oauth.processRevocationResponse(toResponse(await answer)), error)
  })

  test('oauth4webapi recognizes an error of the registration endpoint', async () => {
    const path = '/oauth/register'
    const answers: readonly (readonly [string, Promise<Answer>])[] = [
      ['invalid_redirect_uri', given.ask({ path, body: {} })],
      ['invalid_redirect_uri', given.ask({ path, body: { redirect_uris: ['cursor://x'] } })],
      ['invalid_client_metadata', given.ask({ path, body: { redirect_uris: [REDIRECT_URI], scope: 'openid' } })],
      ['invalid_client_metadata', given.ask({ path, body: '{' })],
      ['invalid_client_metadata', given.post(path, 'a=b')],
      ['invalid_client_metadata', given.ask({ path, body: 'x'.repeat(70_000) })],
    ]
    for (const [error, answer] of answers) {
      await expectTyped(oauth.processDynamicClientRegistrationResponse(toResponse(await answer)), error)
    }
  })

  test('every invalid request to the token endpoint gets JSON with an error code, never 500', async () => {
    const names = [
      'grant_type',
      'code',
      'code_verifier',
      'client_id',
      'redirect_uri',
      'refresh_token',
      'scope',
      'resource',
    ]
    const values = fc.oneof(
      text.filter((text) => text.isWellFormed()),
      fc.constantFrom('authorization_code', 'refresh_token', REDIRECT_URI, 'wallet:read', AUTH_URL, 'svc_oac_x'),
      fc.constantFrom('a'.repeat(43), `svc_oac_${'0'.repeat(49)}`, `svc_ort_${'0'.repeat(49)}`),
    )
    const pairs = fc.array(fc.tuple(fc.constantFrom(...names), values), { maxLength: 8 })
    const form = fc.tuple(pairs, fc.boolean()).map(([pairs, isNamed]) => {
      const fields = new URLSearchParams(pairs)
      if (isNamed) fields.set('client_id', client.client_id)
      return fields.toString()
    })
    await hold(fc.oneof(form, form, bytes, text, fc.json()), '/oauth/token', [
      FORM_TYPE,
      FORM_TYPE,
      'application/json',
      'text/plain',
    ])
  })

  test('every invalid registration gets JSON with an error code, never 500', async () => {
    const uri = fc.oneof(text, anyUrl(), fc.constantFrom(REDIRECT_URI, 'http://localhost', 'https://a.example/\u0000'))
    const metadata = fc
      .record(
        {
          client_name: fc.oneof(text, fc.jsonValue()),
          redirect_uris: fc.oneof(fc.array(fc.oneof(uri, uri, fc.jsonValue()), { maxLength: 12 }), fc.jsonValue()),
          scope: fc.oneof(text, fc.constantFrom('wallet:read', 'wallet:read openid'), fc.jsonValue()),
          grant_types: fc.jsonValue(),
          token_endpoint_auth_method: fc.jsonValue(),
        },
        { requiredKeys: [] },
      )
      .map((metadata) => JSON.stringify(metadata))
    await hold(fc.oneof(metadata, metadata, bytes, text, fc.json()), '/oauth/register', ['application/json', FORM_TYPE])
  })

  async function hold(body: fc.Arbitrary<string | Uint8Array>, path: string, types: readonly string[]): Promise<void> {
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom(...types), async (body, type) => {
        const answer = await given.ask({ path, method: 'POST', body, type })
        if (answer.status === 200 || answer.status === 201) return
        assert.ok([400, 401].includes(answer.status), `${answer.status} ${answer.text}`)
        const { error } = JSON.parse(answer.text) as { error: string }
        expectOauthError(answer, error, answer.status)
      }),
      { numRuns: RUNS },
    )
  }
})

async function expectTyped(processing: Promise<unknown>, error: string): Promise<void> {
  await assert.rejects(processing, (thrown) => {
    assert.ok(thrown instanceof oauth.ResponseBodyError, String(thrown))
    assert.equal(thrown.error, error)
    assert.ok((thrown.error_description ?? '').length > 10)
    return true
  })
}

/** Converts a response of our HTTP client to the type that `fetch` returns. */
function toResponse({ status, headers, text }: Answer): Response {
  const pairs = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string])
  return new Response(text, { status, headers: pairs })
}
