import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Scope } from '../../server/src/values/scope.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { seedTokens } from '../support/context/connection-rows.ts'
import { readRows } from '../support/database/read-rows.ts'
import { expectError } from '../support/http-client.ts'
import { callTool, PROTOCOL_VERSIONS, readRpc, sendMcp } from '../support/service/mcp-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

const METADATA = 'resource_metadata="http://localhost:4100/.well-known/oauth-protected-resource/mcp"'
const ALL_SCOPES = 'wallet:read wallet:transfer x402:pay'
const PAYMENTS_LIMIT = 30
const DEFAULT_LIMIT = 60

/** The MCP server authenticates its callers and limits their requests as `/v1` does (D71). */
describe('credentials of the MCP server', () => {
  let given: TestService
  let seeded: Seed
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context)
  })
  after(() => given.close())

  test('without a valid credential, the challenge names the metadata of this resource, on both hosts', async () => {
    for (const key of [undefined, 'svc_oat_nonsense', 'svc_test_nonsense', 'x']) {
      for (const version of PROTOCOL_VERSIONS) {
        const answer = await sendMcp(given, { version, method: 'tools/list', ...(key === undefined ? {} : { key }) })
        expectError(answer, { type: 'unauthenticated' })
        assert.match(answer.text, /Authorization: Bearer/)
        const error = key === undefined ? '' : 'error="invalid_token", '
        assert.equal(answer.headers['www-authenticate'], `Bearer ${error}scope="${ALL_SCOPES}", ${METADATA}`)
      }
    }
    const other = await sendMcp(given, { method: 'tools/list', host: 'localhost:4101' })
    assert.match(
      String(other.headers['www-authenticate']),
      /"http:\/\/localhost:4101\/\.well-known\/oauth-protected-resource\/mcp"/,
    )
    const metadata = await given.call({ path: '/.well-known/oauth-protected-resource/mcp', host: 'localhost:4100' })
    assert.equal(JSON.parse(metadata.text).resource, 'http://localhost:4100/mcp')
  })

  test('the challenge of /mcp/ names the metadata of this address, with its slash (RFC 9728, section 3.3)', async () => {
    for (const host of ['localhost:4100', 'localhost:4101']) {
      const answer = await sendMcp(given, { method: 'tools/list', host, path: '/mcp/' })
      const [, url = ''] = /resource_metadata="([^"]*)"/.exec(String(answer.headers['www-authenticate'])) ?? []
      const { pathname } = new URL(url)
      assert.equal(url, `http://${host}/.well-known/oauth-protected-resource/mcp/`)
      assert.equal(JSON.parse((await given.call({ path: pathname, host })).text).resource, `http://${host}/mcp/`)
    }
  })

  test('a GET without a credential gets the challenge too, since some hosts begin with it', async () => {
    expectError(await given.call({ path: '/mcp', host: 'localhost:4100' }), { type: 'unauthenticated' })
  })

  test('a token acts as its own agent, without naming it', async () => {
    const { accessToken } = (await connect()).tokens
    const budget = await callTool(given, accessToken, 'get_budget')
    assert.equal(budget['agent_id'], seeded.agentId)
    const other = await callTool(given, accessToken, 'get_budget', { agent_id: 'somebody else' })
    assert.equal(other.error?.code, 'agent_not_authorized')
    assert.match(other.error.next, /Leave agent_id out/)
    assert.doesNotMatch(other.error.message, /[Ss]end/, 'the message does not contradict the advice')
  })

  test('an API key must name the agent, and learns which agents there are', async () => {
    const answer = await callTool(given, seeded.key, 'get_budget')
    assert.equal(answer.error?.code, 'agent_id_required')
    assert.deepEqual(answer.error?.details, { agent_ids: [seeded.agentId], has_more: false })
  })

  test('an API key that is bound to an agent acts as this agent, and needs the scopes too (D56)', async () => {
    const { workspace, mode, agentId } = seeded
    const restriction = { agentId, scopes: ['wallet:read'] } as const
    const issued = await issueKey(given.context, { workspaceId: workspace.id, mode, ...restriction, actor: OPERATOR })
    assert.equal((await callTool(given, issued.secret, 'get_budget'))['agent_id'], agentId)
  })

  test('an API key without the scope gets a result that the model can read, on /v1 the 403 with a challenge', async () => {
    const { workspace, mode, agentId } = seeded
    const restriction = { agentId, scopes: ['wallet:read'] } as const
    const { secret } = await issueKey(given.context, {
      workspaceId: workspace.id,
      mode,
      ...restriction,
      actor: OPERATOR,
    })
    for (const version of PROTOCOL_VERSIONS) {
      for (const name of ['send_payment', 'preview_payment']) {
        const args = { purchase_id: 'one', to: RECIPIENT, amount_usdc: '1' }
        const { error } = await callTool(given, secret, name, args, version)
        assert.equal(error?.code, 'insufficient_scope')
        assert.match(error.message, /This API key may not call/)
        assert.match(error.next, /an API key that has the scope wallet:transfer/)
      }
    }
    const sql = "select id from payments where workspace_id = $1 and idempotency_key = 'one'"
    assert.deepEqual(await readRows(given.context.db, sql, [workspace.id]), [])
    const refused = await given.call({ key: secret, path: '/v1/payments', body: {} })
    expectError(refused, { type: 'forbidden', code: 'insufficient_scope' })
    assert.match(String(refused.headers['www-authenticate']), /error="insufficient_scope"/)
  })

  for (const version of PROTOCOL_VERSIONS) {
    test(`${version}: a token without the scope gets 403, and the challenge names its own scopes and the missing one`, async () => {
      const { accessToken } = (await connect(['wallet:read'])).tokens
      const params = { name: 'send_payment', arguments: {} }
      const answer = await sendMcp(given, { key: accessToken, version, method: 'tools/call', params })
      expectError(answer, { type: 'forbidden', code: 'insufficient_scope' })
      const scopes = 'wallet:read wallet:transfer'
      assert.equal(
        answer.headers['www-authenticate'],
        `Bearer error="insufficient_scope", scope="${scopes}", ${METADATA}`,
      )
      assert.equal((await callTool(given, accessToken, 'get_budget', {}, version)).isError, false)
    })
  }

  const resources: readonly (readonly [string | null, boolean])[] = [
    [null, true],
    ['http://localhost:4100', true],
    ['http://localhost:4101/mcp', true],
    ['http://localhost:4100/mcp', true],
    ['https://old.example/mcp', false],
  ]
  for (const [resource, isAccepted] of resources) {
    test(`a token for ${resource ?? 'no resource'} is ${isAccepted ? 'accepted' : 'rejected, since the resource is not ours'}`, async () => {
      const { accessToken } = (await connect()).tokens
      const connections = `select id from connections where workspace_id = '${seeded.workspace.id}' order by id desc limit 1`
      const value = resource === null ? 'null' : `'${resource}'`
      await readRows(
        given.context.db,
        `update connections set resource = ${value} where id = (${connections}) returning id`,
      )
      const answer = await sendMcp(given, { key: accessToken, method: 'tools/list' })
      if (isAccepted) assert.equal(answer.status, 200)
      else expectError(answer, { type: 'unauthenticated' })
    })
  }

  test('calls count against the buckets of /v1, and a call over the limit is a result that the model can read', async () => {
    const key = await given.issueKey(seeded)
    const invalid = { key, path: '/v1/payments', body: {} }
    for (let count = 0; count < PAYMENTS_LIMIT - 1; count += 1) assert.equal((await given.call(invalid)).status, 400)
    const args = { agent_id: seeded.agentId, to: RECIPIENT, amount_usdc: '1', purchase_id: 'limited' }
    assert.equal((await callTool(given, key, 'send_payment', args)).isError, false)
    for (const version of PROTOCOL_VERSIONS) {
      const params = { name: 'send_payment', arguments: args }
      const answer = await sendMcp(given, { key, version, method: 'tools/call', params })
      const seconds = Number(answer.headers['retry-after'])
      assert.ok(answer.status === 200 && seconds >= 1)
      assert.equal(answer.headers['x-ratelimit-remaining'], '0')
      const { error } = (readRpc(answer).result as { structuredContent: { error: Record<string, string> } })
        .structuredContent
      assert.equal(error['code'], 'rate_limit_exceeded')
      assert.match(String(error['next']), new RegExp(`Wait ${seconds} seconds?, .*same purchase_id`))
      assert.match(String(error['message']), new RegExp(`in ${seconds} seconds?\\.`))
    }
    expectError(await given.call(invalid), { type: 'rate_limited', code: 'rate_limit_exceeded' })
    assert.equal((await callTool(given, key, 'get_budget', { agent_id: seeded.agentId })).isError, false)
  })

  test('a message that calls no tool gets 429 over the limit', async () => {
    const key = await given.issueKey(seeded)
    for (let count = 0; count < DEFAULT_LIMIT; count += 1) {
      assert.equal((await sendMcp(given, { key, method: 'tools/list' })).status, 200)
    }
    expectError(await sendMcp(given, { key, method: 'tools/list' }), {
      type: 'rate_limited',
      code: 'rate_limit_exceeded',
    })
    expectError(await given.call({ key, path: '/v1/me' }), { type: 'rate_limited', code: 'rate_limit_exceeded' })
  })

  function connect(scopes: readonly Scope[] = ['wallet:read', 'wallet:transfer']) {
    const { workspace, mode, agentId } = seeded
    return seedTokens(given.context, { workspace, mode, agentId, scopes })
  }
})
