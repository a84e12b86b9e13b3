import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectError, readBody } from '../support/http-client.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'

interface AgentAnswer {
  readonly agent: Readonly<Record<string, unknown>>
}

describe('agents over HTTP', () => {
  let given: TestService
  let seeded: Seed
  let key: string
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context, { dailyCap: '25', maxPerTx: '10' })
    key = seeded.key
  })
  after(() => given.close())

  test('an agent is created once, and creating it again is 201 too, with every field of the specification', async () => {
    const first = await given.call({ path: '/v1/agents', key, body: { id: 'trader' } })
    const { agent } = readBody<AgentAnswer>(first, 201)
    assert.deepEqual(agent, {
      id: 'trader',
      status: 'no_permissions',
      mode: 'test',
      created_at: agent['created_at'],
      active_signers: 0,
      pending_signers: 0,
      account_slug: seeded.workspace.slug,
      wallets: [],
    })
    assert.equal(new Date(String(agent['created_at'])).toISOString(), agent['created_at'])
    const second = await given.call({ path: '/v1/agents', key, body: { id: 'trader' } })
    assert.deepEqual(readBody<AgentAnswer>(second, 201), { agent })
  })

  test('an agent with a grant is active, and shows what it may spend (D9)', async () => {
    readBody(await given.call({ path: '/v1/payments', key, body: paymentBody(seeded, { amount_usdc: '4.50' }) }), 201)
    const answer = await given.call({ path: `/v1/agents/${seeded.agentId}`, key })
    const { agent } = readBody<AgentAnswer>(answer, 200)
    assert.deepEqual([agent['status'], agent['active_signers']], ['active', 1])
    assert.deepEqual(agent['wallets'], [
      {
        address: seeded.wallet,
        max_per_tx_usdc: '10',
        daily_cap_usdc: '25',
        spent_24h_usdc: '4.5',
        remaining_24h_usdc: '20.5',
        expires_at: null,
      },
    ])
  })

  test('an agent whose id has any allowed characters is found by its percent-encoded path', async () => {
    for (const id of ['team/research bot', '🤖'.repeat(64), 'a%2Fb', '../x', '...', 'é', '?#&+;=', '名前']) {
      readBody(await given.call({ path: '/v1/agents', key, body: { id } }), 201)
      const answer = await given.call({ path: `/v1/agents/${encodeURIComponent(id)}`, key })
      assert.equal(readBody<AgentAnswer>(answer, 200).agent['id'], id)
    }
  })

  test('the list contains every agent of this workspace and mode, and no others', async () => {
    const other = await seed(given.context)
    const answer = await given.call({ path: '/v1/agents', key: other.key })
    const { agents } = readBody<{ agents: { id: string }[] }>(answer, 200)
    assert.deepEqual(
      agents.map(({ id }) => id),
      [other.agentId],
    )
    const live = await given.issueKey(other, 'live')
    assert.deepEqual(readBody(await given.call({ path: '/v1/agents', key: live }), 200), { agents: [] })
  })

  test('an agent of another workspace, or one that does not exist, is 404', async () => {
    const other = await seed(given.context)
    const paths = [
      other.agentId,
      'nobody',
      '%00',
      '%0a',
      'x'.repeat(700),
      'x'.repeat(5_000),
      '%F0%9F',
      '%E0%A4%A',
      '%zz',
      '%',
    ]
    for (const id of paths) {
      const answer = await given.call({ path: `/v1/agents/${id}`, key })
      assert.equal(expectErrorType(answer), 'not_found', id)
    }
  })

  test("when the plan's agents are used up, a new id is 400 agent_cap_reached, and an existing one is 201", async () => {
    const workspace = await seed(given.context)
    let used = 1
    while (used < 100) {
      const fresh = await given.issueKey(workspace)
      for (let index = 0; index < 55 && used < 100; index += 1, used += 1) {
        readBody(await given.call({ path: '/v1/agents', key: fresh, body: { id: `agent ${used}` } }), 201)
      }
    }
    const over = await given.call({ path: '/v1/agents', key: workspace.key, body: { id: 'one more' } })
    expectError(over, { type: 'validation_failed', code: 'agent_cap_reached' })
    readBody(await given.call({ path: '/v1/agents', key: workspace.key, body: { id: 'agent 1' } }), 201)
  })

  test('an API key gets its own data from /v1/me (D30)', async () => {
    const before = given.clock.now()
    const answer = await given.call({ path: '/v1/me', key })
    const { server_time: time, ...me } = readBody<Record<string, unknown>>(answer, 200)
    assert.match(String(time), /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    assert.ok(before <= new Date(String(time)) && new Date(String(time)) <= given.clock.now())
    assert.deepEqual(me, {
      auth_type: 'api_key',
      account_slug: seeded.workspace.slug,
      account_name: seeded.workspace.name,
      mode: 'test',
      scopes: ['wallet:read', 'wallet:transfer', 'x402:pay'],
      agent_id: null,
      expires_at: null,
      wallets: [{ address: seeded.wallet, max_per_tx_usdc: '10', daily_cap_usdc: '25', agent_id: seeded.agentId }],
    })
  })

  function expectErrorType(answer: Awaited<ReturnType<TestService['call']>>): string {
    return answer.status === 404 && expectNotFound(answer) ? 'not_found' : `${answer.status} ${answer.text}`
  }

  /**
   * Checks the error in a 404 response. It has a code if the agent does not exist, and no code if the path does not
   * exist. Always returns true.
   */
  function expectNotFound(answer: Awaited<ReturnType<TestService['call']>>): boolean {
    const { code } = JSON.parse(answer.text).error as { code?: 'agent_not_found' }
    expectError(answer, { type: 'not_found', ...(code === undefined ? {} : { code }) })
    return true
  }
})
