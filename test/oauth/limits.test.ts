import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Answer } from '../support/http-client.ts'
import {
  expectOauthError,
  expectPage,
  handleOf,
  openOauthServer,
  type OauthServer,
  type RegisteredClient,
} from '../support/service/oauth-server.ts'

/** These limits prevent a single address or client from using all the capacity of the server (D33). */
describe('the limits of the authorization server', () => {
  let given: OauthServer
  let client: RegisteredClient
  let addresses = 0
  before(async () => {
    given = await openOauthServer()
    client = await given.register()
  })
  after(() => given.close())

  for (const [path, fields] of [
    ['/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x' }],
    ['/oauth/revoke', { token: 'x' }],
  ] as const) {
    test(`${path} accepts 60 requests a minute from one client and address, and tells the 61st when to retry`, async () => {
      const address = newAddress()
      const post = (clientId: string | null, from = address) =>
        given.post(path, { ...fields, client_id: clientId }, { address: from })

      await exhaust(60, () => post(client.client_id))
      const answer = await post(client.client_id)
      expectLimited(answer)
      // Another client, another address, and requests without a client each have their own limit.
      const other = await given.register()
      assert.notEqual((await post(other.client_id)).status, 429)
      assert.notEqual((await post(client.client_id, newAddress())).status, 429)
      assert.notEqual((await post(null)).status, 429)
    })

    test(`${path} accepts 60 requests a minute from one address without a known client`, async () => {
      const address = newAddress()
      let index = 0
      const post = () => {
        index += 1
        const client_id = index % 3 === 0 ? null : `svc_client_${index}`
        return given.post(path, { ...fields, client_id }, { address })
      }
      await exhaust(60, post)
      expectLimited(await post())
    })
  }

  test('register accepts 20 requests an hour from one address, valid or not', async () => {
    const address = newAddress()
    const post = () => given.ask({ path: '/oauth/register', body: { redirect_uris: [] }, address })
    await exhaust(20, post)
    const seconds = expectLimited(await post())
    assert.ok(seconds > 60 && seconds <= 3_600)
    assert.equal((await given.ask({ path: '/oauth/register', body: { redirect_uris: [] } })).status, 400)
  })

  test('authorize accepts 100 requests a minute from one address, and then shows an error page', async () => {
    const address = newAddress()
    for (let index = 0; index < 100; index += 1) {
      const answer = await given.authorize(client, index % 2 === 0 ? {} : { client_id: null }, { address })
      assert.notEqual(answer.status, 429)
    }
    const answer = await given.authorize(client, {}, { address, person: given.owner })
    expectPage(answer, { status: 429, error: 'rate_limit_exceeded' })
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d?$/)
    handleOf(await given.authorize(client))
  })

  test('X-Forwarded-For is ignored if no proxy is trusted', async () => {
    const direct = await openOauthServer((config) => ({ ...config, trustedProxies: [] }))
    try {
      await exhaust(20, () => direct.ask({ path: '/oauth/register', body: {} }))
      expectLimited(await direct.ask({ path: '/oauth/register', body: {} }))
    } finally {
      await direct.close()
    }
  })

  async function exhaust(limit: number, ask: () => Promise<Answer>): Promise<void> {
    for (let index = 0; index < limit; index += 1) assert.notEqual((await ask()).status, 429, `request ${index + 1}`)
  }

  /** Checks that a response is a 429, and returns the number of seconds to wait. */
  function expectLimited(answer: Answer): number {
    const description = expectOauthError(answer, 'temporarily_unavailable', 429)
    const seconds = String(answer.headers['retry-after'])
    assert.match(seconds, /^[1-9]\d*$/)
    assert.match(description, new RegExp(`\\b${seconds} seconds\\b`))
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    return Number(seconds)
  }

  function newAddress(): string {
    addresses += 1
    return `192.0.2.${addresses}`
  }
})
