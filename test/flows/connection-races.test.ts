import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AddedServer } from '../../sandbox/src/processes/servers.ts'
import { openHostOf, type AgentHost } from '../support/sandbox/agent-host.ts'
import {
  connect,
  exchangeCode,
  postForm,
  refreshTokens,
  registerClient,
  startAuthorization,
  type OauthServer,
} from '../support/sandbox/oauth-client.ts'
import { openTracedFixture } from '../support/sandbox/sandbox-fixture.ts'

/** The number of concurrent requests. The token endpoint allows 60 a minute for one client and address (D33). */
const REQUESTS = 50
/** The number of concurrent refreshes that each process gets. */
const REFRESHES = 8

describe('connections on two server processes', () => {
  let host: AgentHost
  let second: AddedServer
  let servers: readonly [OauthServer, OauthServer]
  before(async () => {
    const { sandbox, dataDir } = await openTracedFixture()
    host = openHostOf({ ...sandbox, dataDir }, sandbox.facts.workspace)
    second = await host.addServer()
    const { authUrl } = host
    servers = [{ authUrl }, { authUrl, processUrl: second.baseUrl }]
  })
  after(() => second.stop())

  const race = <Answer>(request: (server: OauthServer) => Promise<Answer>): Promise<Answer[]> =>
    Promise.all(Array.from({ length: REQUESTS }, (_, index) => request(servers[index % 2 === 0 ? 0 : 1])))

  test('of 50 exchanges of one code, one gets tokens, and these are revoked when all have a response (D38)', async () => {
    const authorization = startAuthorization(host, await registerClient(host))
    const code = String((await host.consent(authorization.url)).searchParams.get('code'))
    const answers = await race((server) => exchangeCode(server, authorization, code))
    const won = answers.filter(({ error }) => error === undefined)
    assert.equal(won.length, 1)
    assert.equal(answers.filter(({ error }) => error === 'invalid_grant').length, REQUESTS - 1)
    assert.equal(await host.statusOfMe(String(won[0]?.access_token)), 401)
  })

  test('refreshes with one token at the same time get the same tokens, and a later one ends the connection (D38a)', async () => {
    const { clientId, tokens } = await connect(host)
    const requests = servers.flatMap((server) => Array.from({ length: REFRESHES }, () => server))
    const answers = await Promise.all(requests.map((server) => refreshTokens(server, clientId, tokens.refresh_token)))
    const [first] = answers
    assert.equal(first?.error, undefined)
    for (const answer of answers) assert.deepEqual(answer, first)
    for (const token of [tokens.access_token, String(first?.access_token)]) {
      assert.equal(await host.statusOfMe(token), 200)
    }
    assert.equal((await refreshTokens(servers[1], clientId, tokens.refresh_token)).error, 'invalid_grant')
    assert.equal(await host.statusOfMe(String(first?.access_token)), 401)
    assert.equal((await refreshTokens(host, clientId, String(first?.refresh_token))).error, 'invalid_grant')
  })

  test('after a refresh and a revocation at the same time, no token is valid', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { clientId, tokens } = await connect(host)
      const [refreshed, { status }] = await Promise.all([
        refreshTokens(servers[0], clientId, tokens.refresh_token),
        postForm(servers[1], '/oauth/revoke', { token: tokens.access_token, client_id: clientId }),
      ])
      assert.equal(status, 200)
      const made = refreshed.error === undefined ? [refreshed.access_token] : []
      for (const token of [tokens.access_token, ...made]) assert.equal(await host.statusOfMe(token), 401)
      const left = refreshed.error === undefined ? refreshed.refresh_token : tokens.refresh_token
      assert.equal((await refreshTokens(host, clientId, left)).error, 'invalid_grant')
    }
  })

  test('a revocation by one process takes effect in the other process at once', async () => {
    const { clientId, tokens } = await connect(host)
    const form = { token: tokens.refresh_token, client_id: clientId }
    assert.equal((await postForm(servers[1], '/oauth/revoke', form)).status, 200)
    assert.equal(await host.statusOfMe(tokens.access_token), 401)
  })
})
