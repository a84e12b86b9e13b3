import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Answer } from '../support/http-client.ts'
import {
  expectOauthError,
  expectPage,
  locationOf,
  openOauthServer,
  readTokens,
  type OauthServer,
  type RegisteredClient,
} from '../support/service/oauth-server.ts'
import { readRows } from '../support/database/read-rows.ts'
import { startTcpProxy, type TcpProxy } from '../support/wires/tcp-proxy.ts'
import { withJobs } from '../support/service/test-service.ts'
import { waitFor } from '../support/wait-for.ts'

describe('the authorization server during a failure', () => {
  let given: OauthServer
  let proxy: TcpProxy
  let client: RegisteredClient
  before(async () => {
    given = await openOauthServer(async (config) => {
      proxy = await startTcpProxy(config.database.url)
      return withJobs({ ...config, database: { ...config.database, url: proxy.url } })
    })
    client = await given.register()
  })
  after(async () => {
    await given.close()
    await proxy.close()
  })

  test('while the database is unreachable, responses are 503 with Retry-After, and no code or token is used up', async () => {
    const approved = await given.approveCode(client)
    const tokens = await given.obtainTokens(client)
    const handle = await given.openRequest(client)
    proxy.cut()
    for (const answer of await askPrograms()) expectUnavailable(answer)
    expectUnavailable(await given.exchange(approved))
    expectUnavailable(await given.refresh(tokens))
    for (const answer of [await given.authorize(client), await given.consent(handle)]) {
      expectPage(answer, { status: 503, error: 'unavailable' })
      assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
    }
    assert.equal((await given.ask({ path: '/.well-known/oauth-authorization-server' })).status, 200)
    proxy.restore()
    await waitFor('readiness', async () => (await given.ask({ path: '/readyz' })).status === 200)
    readTokens(await given.exchange(approved))
    readTokens(await given.refresh(tokens))
    locationOf(await given.consent(handle), 303)
  })

  test('an unexpected error is server_error, 500, and reveals no internal detail', async () => {
    const { db } = given.context
    await readRows(db, 'alter table oauth_clients rename to elsewhere')
    try {
      for (const answer of await askPrograms()) {
        const description = expectOauthError(answer, 'server_error', 500)
        assert.doesNotMatch(description, /oauth_clients|relation|select|insert/)
      }
      const answer = await given.authorize(client)
      expectPage(answer, { status: 500, error: 'internal' })
      assert.doesNotMatch(answer.text, /oauth_clients|relation|select/)
    } finally {
      await readRows(db, 'alter table elsewhere rename to oauth_clients')
    }
    await given.openRequest(client)
  })

  function askPrograms(): Promise<Answer[]> {
    const { client_id } = client
    return Promise.all([
      given.post('/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x', client_id }),
      given.post('/oauth/revoke', { token: `svc_oat_${'0'.repeat(49)}`, client_id }),
      given.ask({ path: '/oauth/register', body: { redirect_uris: ['http://localhost/cb'] } }),
    ])
  }
})

function expectUnavailable(answer: Answer): void {
  expectOauthError(answer, 'temporarily_unavailable', 503)
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
}
