import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { deleteAgent } from '../../server/src/domain/agents/delete-agent.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { rotateKey } from '../../server/src/domain/keys/rotate-key.ts'
import type { AgentId } from '../../server/src/values/agent-id.ts'
import type { Scope } from '../../server/src/values/scope.ts'
import { expectError, readBody, type Answer } from '../support/http-client.ts'
import { agent, seed, seedGrant, type Seed } from '../support/context/seed.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'

const METADATA = 'resource_metadata="http://localhost:4100/.well-known/oauth-protected-resource"'
const FORBIDDEN = 'forbidden'

type Restriction = { readonly agentId?: AgentId; readonly scopes?: readonly Scope[] }
type Id = { readonly id: string }

/** What a request with a key gets: the status, and the code of the error if there is one. */
type Expected = readonly [status: number, code?: string]

/** A restricted key behaves like an access token of its agent (D56). */
describe('restricted API keys on /v1', () => {
  let given: TestService
  let seeded: Seed
  let other: AgentId
  let paymentOfOther: string
  let event: string
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context)
    other = agent('another agent')
    await createAgent(given.context, {
      workspaceId: seeded.workspace.id,
      mode: seeded.mode,
      id: other,
      actor: OPERATOR,
    })
    await seedGrant(given.context, { ...seeded, agentId: other })
    paymentOfOther = readBody<{ payment: Id }>(await pay(seeded.key, { agent_id: other }), 201).payment.id
    event = readBody<{ events: [Id] }>(await get('/v1/events', seeded.key), 200).events[0].id
  })
  after(() => given.close())

  const ownAgent = () => ({ agentId: seeded.agentId })
  const kinds: Readonly<Record<string, () => Restriction>> = {
    unrestricted: () => ({}),
    bound: ownAgent,
    'bound reader': () => ({ ...ownAgent(), scopes: ['wallet:read'] }),
    'unbound reader': () => ({ scopes: ['wallet:read', 'x402:pay'] }),
    'unbound payer': () => ({ scopes: ['wallet:transfer'] }),
  }
  const OK: Expected = [200]
  const MADE: Expected = [201]
  const NO_SCOPE: Expected = [403, 'insufficient_scope']
  const NOT_OWN: Expected = [403, 'agent_not_authorized']
  const NEEDS_KEY: Expected = [403, 'api_key_required']
  const NOT_READY: Expected = [409, 'evidence_not_ready']
  const ALL_OK = [OK, OK, OK, OK, OK]
  /** Each endpoint, and what each kind of key gets from it, in the order of `kinds`. */
  const endpoints: readonly (readonly [
    name: string,
    ask: (key: string) => Promise<Answer>,
    expected: readonly Expected[],
  ])[] = [
    ['GET /v1/me', (key) => get('/v1/me', key), ALL_OK],
    ['GET /v1/agents', (key) => get('/v1/agents', key), ALL_OK],
    ['GET /v1/agents/{id} of another agent', (key) => get(`/v1/agents/${encodeURIComponent(other)}`, key), ALL_OK],
    ['GET /v1/payments/{id} of another agent', (key) => get(`/v1/payments/${paymentOfOther}`, key), ALL_OK],
    [
      'GET /v1/payments/{id}/evidence of another agent, which is pending',
      (key) => get(`/v1/payments/${paymentOfOther}/evidence`, key),
      [NOT_READY, NOT_OWN, NOT_OWN, NOT_READY, NOT_READY],
    ],
    ['GET /v1/events', (key) => get('/v1/events', key), ALL_OK],
    ['GET /v1/events/{id}', (key) => get(`/v1/events/${event}`, key), ALL_OK],
    ['POST /v1/agents', (key) => create(key, 'new agent'), [MADE, NEEDS_KEY, NEEDS_KEY, NEEDS_KEY, NEEDS_KEY]],
    [
      'POST /v1/agents, its own',
      (key) => create(key, seeded.agentId),
      [MADE, NEEDS_KEY, NEEDS_KEY, NEEDS_KEY, NEEDS_KEY],
    ],
    ['POST /v1/payments/preview', (key) => preview(key), [OK, OK, NO_SCOPE, NO_SCOPE, OK]],
    ['POST /v1/payments as its own agent', (key) => pay(key), [MADE, MADE, NO_SCOPE, NO_SCOPE, MADE]],
    [
      'POST /v1/payments as another agent',
      (key) => pay(key, { agent_id: other }),
      [MADE, NOT_OWN, NO_SCOPE, NO_SCOPE, MADE],
    ],
    [
      'POST /v1/payments as an unknown agent',
      (key) => pay(key, { agent_id: 'nobody' }),
      [[404, 'agent_not_found'], NOT_OWN, NO_SCOPE, NO_SCOPE, [404, 'agent_not_found']],
    ],
  ]
  for (const [name, ask, expected] of endpoints) {
    test(name, async () => {
      const found: Record<string, Expected> = {}
      for (const [kind, restriction] of Object.entries(kinds)) {
        const answer = await ask(await issue(restriction()))
        const { error } = JSON.parse(answer.text) as { error?: { code: string } }
        found[kind] = error === undefined ? [answer.status] : [answer.status, error.code]
      }
      assert.deepEqual(Object.values(found), expected, JSON.stringify(found))
    })
  }

  test('GET /v1/me returns the agent, the scopes, and only the wallets of this agent', async () => {
    const key = await issue({ agentId: seeded.agentId, scopes: ['wallet:transfer'] })
    const { server_time: _, ...me } = readBody<Record<string, unknown>>(await get('/v1/me', key), 200)
    assert.deepEqual(me, {
      auth_type: 'api_key',
      account_slug: seeded.workspace.slug,
      account_name: seeded.workspace.name,
      mode: 'test',
      scopes: ['wallet:transfer'],
      agent_id: seeded.agentId,
      expires_at: null,
      wallets: [{ address: seeded.wallet, max_per_tx_usdc: '10', daily_cap_usdc: '100' }],
    })
    const unbound = readBody<Me>(await get('/v1/me', await issue({ scopes: ['wallet:read'] })), 200)
    assert.deepEqual([unbound.agent_id, unbound.scopes], [null, ['wallet:read']])
    assert.deepEqual(
      unbound.wallets.map(({ agent_id: id }) => String(id)).toSorted(),
      [seeded.agentId, other].toSorted(),
    )
  })

  test('a missing scope has its challenge and is checked before the rate limit, and the request is not counted (D18, D31, D32)', async () => {
    const key = await issue({ scopes: ['wallet:read'] })
    for (let index = 0; index < 35; index += 1) {
      const answer = await pay(key)
      const { details } = expectError(answer, { type: FORBIDDEN, code: 'insufficient_scope' })
      assert.deepEqual(details, { required_scope: 'wallet:transfer' })
      assert.equal(answer.headers['x-ratelimit-remaining'], '30')
      assert.equal(
        answer.headers['www-authenticate'],
        `Bearer error="insufficient_scope", scope="wallet:transfer", ${METADATA}`,
      )
    }
  })

  test('the rate limit of a restricted key is exact, and its own', async () => {
    const key = await issue(ownAgent())
    for (let left = 59; left >= 0; left -= 1) {
      assert.equal((await get('/v1/me', key)).headers['x-ratelimit-remaining'], String(left))
    }
    expectError(await get('/v1/me', key), { type: 'rate_limited', code: 'rate_limit_exceeded' })
    assert.equal((await get('/v1/me', await issue(ownAgent()))).status, 200)
  })

  test('retrying another agent’s payment by its idempotency key returns the record, and signs nothing (D21, D25)', async () => {
    given.enclave.behave = () => 'unavailable'
    const idempotencyKey = 'of another agent'
    expectError(await pay(seeded.key, { agent_id: other, idempotency_key: idempotencyKey }), {
      type: 'internal',
      code: 'privy_call_failed',
    })
    const calls: string[] = []
    given.enclave.behave = () => {
      calls.push('called')
      return 'sign'
    }
    const answer = await pay(await issue(ownAgent()), { idempotency_key: idempotencyKey })
    const { payment } = readBody<{ payment: { status: string; agent_id?: string; tx_hash: null } }>(answer, 201)
    assert.deepEqual(
      [payment.status, payment.tx_hash, answer.headers['idempotent-replayed']],
      ['pending', null, 'true'],
    )
    assert.deepEqual(calls, [])
  })

  test('a rotated key and its successor have the same restrictions', async () => {
    const old = await issue({ agentId: seeded.agentId, scopes: ['wallet:read'] })
    const { secret } = await rotateKey(given.context, { secret: old, actor: OPERATOR })
    for (const key of [old, secret]) {
      const me = readBody<Me>(await get('/v1/me', key), 200)
      assert.deepEqual([me.agent_id, me.scopes], [seeded.agentId, ['wallet:read']])
      expectError(await pay(key), { type: FORBIDDEN, code: 'insufficient_scope' })
      expectError(await create(key, 'new agent'), { type: FORBIDDEN, code: 'api_key_required' })
    }
  })

  test('a key is bound to the agent of its own workspace and mode, even if others have an agent with this id', async () => {
    const { workspace, mode } = await seed(given.context)
    await createAgent(given.context, { workspaceId: workspace.id, mode, id: seeded.agentId, actor: OPERATOR })
    const { secret } = await issueKey(given.context, {
      workspaceId: workspace.id,
      mode,
      agentId: seeded.agentId,
      actor: OPERATOR,
    })
    const me = readBody<Me>(await get('/v1/me', secret), 200)
    assert.deepEqual([me.agent_id, me.account_slug, me.wallets], [seeded.agentId, workspace.slug, []])
    expectError(await get(`/v1/payments/${paymentOfOther}`, secret), { type: 'not_found' })
    expectError(await pay(secret), { type: 'not_found', code: 'wallet_not_found' })
  })

  test('when the agent is deleted, its key is 401 at once, and stays so if the agent is created again', async () => {
    const { workspace, mode } = seeded
    const made = { workspaceId: workspace.id, mode, id: agent('short-lived'), actor: OPERATOR } as const
    await createAgent(given.context, made)
    const key = await issue({ agentId: made.id })
    readBody(await get('/v1/me', key), 200)
    await deleteAgent(given.context, made)
    expectError(await get('/v1/me', key), { type: 'unauthenticated' })
    await createAgent(given.context, made)
    expectError(await get('/v1/me', key), { type: 'unauthenticated' })
  })

  interface Me {
    readonly account_slug: string
    readonly agent_id: string | null
    readonly scopes: readonly string[]
    readonly wallets: readonly { readonly agent_id?: string }[]
  }

  async function issue(restriction: Restriction): Promise<string> {
    const { workspace, mode } = seeded
    const options = { workspaceId: workspace.id, mode, ...restriction, actor: OPERATOR }
    return (await issueKey(given.context, options)).secret
  }

  function get(path: string, key: string): Promise<Answer> {
    return given.call({ path, key })
  }

  function create(key: string, id: string): Promise<Answer> {
    return given.call({ path: '/v1/agents', key, body: { id } })
  }

  function preview(key: string): Promise<Answer> {
    return given.call({ path: '/v1/payments/preview', key, body: paymentBody(seeded) })
  }

  function pay(key: string, changes: Record<string, unknown> = {}): Promise<Answer> {
    return given.call({ path: '/v1/payments', key, body: paymentBody(seeded, changes) })
  }
})
