import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { revokeToken } from '../../server/src/domain/connections/revoke-token.ts'
import type { Scope } from '../../server/src/values/scope.ts'
import { createSecret, SECRET_PREFIXES } from '../../server/src/values/secret.ts'
import { issued, refresh, seedTokens, type ConnectedClient } from '../support/context/connection-rows.ts'
import { expectError, readBody, type Answer } from '../support/http-client.ts'
import { agent, seed, seedGrant, type Seed } from '../support/context/seed.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'

const HOUR_MS = 60 * 60 * 1_000
const ALL_SCOPES = 'wallet:read wallet:transfer x402:pay'
const METADATA = 'resource_metadata="http://localhost:4100/.well-known/oauth-protected-resource"'
const READS = [
  '/v1/me',
  '/v1/agents',
  '/v1/agents/nobody',
  '/v1/payments/pay_x',
  '/v1/events',
  '/v1/events/evt_x',
  '/v1/ledger',
  '/v1/wallets',
  `/v1/wallets/0x${'0'.repeat(39)}1`,
] as const

describe('OAuth tokens on /v1', () => {
  let given: TestService
  let seeded: Seed
  let other: Seed['agentId']
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
  })
  after(() => given.close())

  test('GET /v1/me returns the connection: its workspace, agent, limits and expiry (D30)', async () => {
    const { tokens } = await connect(['wallet:read', 'wallet:transfer'])
    const me = readBody<Record<string, unknown>>(await get('/v1/me', tokens.accessToken), 200)
    const { expires_at: expiresAt, server_time: _, ...rest } = me
    assert.deepEqual(rest, {
      auth_type: 'oauth',
      account_slug: seeded.workspace.slug,
      account_name: seeded.workspace.name,
      mode: 'test',
      scopes: ['wallet:read', 'wallet:transfer'],
      agent_id: seeded.agentId,
      wallets: [{ address: seeded.wallet, max_per_tx_usdc: '10', daily_cap_usdc: '100' }],
    })
    const left = Date.parse(String(expiresAt)) - given.clock.now().getTime()
    assert.ok(Math.abs(left - 30 * 24 * HOUR_MS) < HOUR_MS, 'the end of the refresh token')
  })

  test('an API key reads every agent’s wallets, each with its agent', async () => {
    const me = readBody<{ wallets: { agent_id: string }[] }>(await get('/v1/me', seeded.key), 200)
    assert.deepEqual(me.wallets.map(({ agent_id: id }) => id).toSorted(), [seeded.agentId, other].toSorted())
  })

  for (const scope of ['wallet:read', 'wallet:transfer', 'x402:pay'] as const) {
    test(`${scope} alone allows reading (specification, part 5, rule 1)`, async () => {
      const { tokens } = await connect([scope])
      assert.deepEqual(
        await Promise.all(READS.map(async (path) => (await get(path, tokens.accessToken)).status)),
        [200, 200, 404, 404, 200, 404, 200, 200, 404],
      )
    })
  }

  test('paying requires wallet:transfer: otherwise 403 insufficient_scope, with its challenge (RFC 6750, section 3.1)', async () => {
    const { tokens } = await connect(['wallet:read', 'x402:pay'])
    const answer = await pay(tokens.accessToken)
    const { details } = expectError(answer, { type: 'forbidden', code: 'insufficient_scope' })
    assert.deepEqual(details, { required_scope: 'wallet:transfer' })
    assert.equal(
      answer.headers['www-authenticate'],
      `Bearer error="insufficient_scope", scope="wallet:transfer", ${METADATA}`,
    )
  })

  test('the scope is checked before the rate limit (D18); a rejection is not counted, but its headers show the limit (D32)', async () => {
    const { tokens } = await connect(['wallet:read'])
    for (let index = 0; index < 35; index += 1) {
      const answer = await pay(tokens.accessToken)
      expectError(answer, { type: 'forbidden', code: 'insufficient_scope' })
      assert.equal(answer.headers['x-ratelimit-remaining'], '30')
    }
  })

  test('a connection pays as its own agent, and gets 403 agent_not_authorized as any other (D25)', async () => {
    const { tokens } = await connect()
    assert.equal((await pay(tokens.accessToken)).status, 201)
    expectError(await pay(tokens.accessToken, { agent_id: other }), { type: 'forbidden', code: 'agent_not_authorized' })
    expectError(await pay(tokens.accessToken, { agent_id: 'nobody' }), {
      type: 'forbidden',
      code: 'agent_not_authorized',
    })
    assert.equal((await pay(seeded.key, { agent_id: other })).status, 201)
  })

  test('retrying another agent’s payment by its key returns the record, and signs nothing (D21, D25)', async () => {
    const { tokens } = await connect()
    given.enclave.behave = () => 'unavailable'
    const key = 'of another agent'
    expectError(await pay(seeded.key, { agent_id: other, idempotency_key: key }), {
      type: 'internal',
      code: 'privy_call_failed',
    })
    const calls: string[] = []
    given.enclave.behave = () => {
      calls.push('called')
      return 'sign'
    }
    for (const body of [
      { idempotency_key: key },
      { idempotency_key: key, agent_id: other },
      { idempotency_key: key, to: 'x' },
    ]) {
      const answer = await pay(tokens.accessToken, body)
      const { payment } = readBody<{ payment: { status: string; tx_hash: null } }>(answer, 201)
      assert.deepEqual([payment.status, payment.tx_hash], ['pending', null])
      assert.equal(answer.headers['idempotent-replayed'], 'true')
    }
    assert.deepEqual(calls, [])
  })

  test('creating an agent requires an API key: otherwise 403 api_key_required (D31)', async () => {
    const { tokens } = await connect()
    const answer = await given.call({ path: '/v1/agents', key: tokens.accessToken, body: { id: 'new' } })
    expectError(answer, { type: 'forbidden', code: 'api_key_required' })
    expectError(await get('/v1/agents/new', seeded.key), { type: 'not_found', code: 'agent_not_found' })
  })

  test('a token reads only its own mode and workspace', async () => {
    const live = await seed(given.context, { mode: 'live' })
    const foreign = await seedTokens(given.context, { workspace: live.workspace, mode: 'live', agentId: live.agentId })
    const { payment } = readBody<{ payment: { id: string } }>(await pay((await connect()).tokens.accessToken), 201)
    const path = `/v1/payments/${payment.id}`
    expectError(await get(path, foreign.tokens.accessToken), { type: 'not_found' })
    expectError(await get(`/v1/agents/${seeded.agentId}`, foreign.tokens.accessToken), {
      type: 'not_found',
      code: 'agent_not_found',
    })
    assert.equal((await get(path, (await connect()).tokens.accessToken)).status, 200)
  })

  test('requests count against the connection: a refresh does not reset the limit, and another connection has its own (D32)', async () => {
    const connected = await connect()
    for (let index = 0; index < 59; index += 1) await get('/v1/me', connected.tokens.accessToken)
    const next = issued(await refresh(given.context, connected, connected.tokens.refreshToken))
    const last = await get('/v1/me', next.accessToken)
    assert.deepEqual([last.status, last.headers['x-ratelimit-remaining']], [200, '0'])
    for (const token of [next.accessToken, connected.tokens.accessToken]) {
      const refused = await get('/v1/agents', token)
      expectError(refused, { type: 'rate_limited', code: 'rate_limit_exceeded' })
      assert.ok(Number(refused.headers['retry-after']) >= 1)
    }
    assert.equal((await get('/v1/me', (await connect()).tokens.accessToken)).status, 200)
  })

  test('expired, revoked, unknown and malformed tokens get the same 401', async () => {
    const [expired, revoked, misused] = [await connect(), await connect(), await connect()]
    await revokeToken(given.context, { token: revoked.tokens.refreshToken, clientId: revoked.client.id })
    const dead = [
      revoked.tokens.accessToken,
      createSecret(SECRET_PREFIXES.accessToken),
      `${misused.tokens.accessToken}x`,
      misused.tokens.refreshToken,
      misused.code,
      'svc_oat_',
    ]
    given.service.clock.setOffset(HOUR_MS)
    given.clock.setOffset(HOUR_MS)
    const answers = await Promise.all([expired.tokens.accessToken, ...dead].map((token) => get('/v1/me', token)))
    given.service.clock.setOffset(0)
    given.clock.setOffset(0)
    for (const answer of answers) {
      expectError(answer, { type: 'unauthenticated' })
      assert.equal(
        answer.headers['www-authenticate'],
        `Bearer error="invalid_token", scope="${ALL_SCOPES}", ${METADATA}`,
      )
      assert.equal(JSON.parse(answer.text).error.message, JSON.parse(answers[0]?.text ?? '').error.message)
    }
  })

  test('a token in the query or the body is ignored', async () => {
    const { accessToken } = (await connect()).tokens
    expectError(await given.call({ path: `/v1/me?access_token=${accessToken}` }), { type: 'unauthenticated' })
    const form = {
      path: '/v1/payments',
      body: `access_token=${accessToken}`,
      type: 'application/x-www-form-urlencoded',
    }
    expectError(await given.call(form), { type: 'unauthenticated' })
    const header = `Bearer ${accessToken}`
    const twice = await given.call({ path: '/v1/me', headers: ['authorization', header, 'authorization', header] })
    expectError(twice, { type: 'unauthenticated' })
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
      const answer = await given.call({ path: '/v1/me', headers: ['authorization', `${scheme} ${accessToken}`] })
      assert.equal(answer.status, 200, scheme)
    }
  })

  test('both hosts accept tokens and keys, and each names its own metadata in the challenge (D1)', async () => {
    const { accessToken } = (await connect()).tokens
    for (const origin of ['http://localhost:4100', 'http://localhost:4101']) {
      const { host } = new URL(origin)
      for (const key of [accessToken, seeded.key]) assert.equal((await getAt(host, key)).status, 200)
      const challenge = (await getAt(host)).headers['www-authenticate']
      assert.equal(challenge, `Bearer scope="${ALL_SCOPES}", ${METADATA.replace('http://localhost:4100', origin)}`)
    }
    const spoofed = (await getAt('evil.example')).headers['www-authenticate']
    assert.equal(spoofed, `Bearer scope="${ALL_SCOPES}", ${METADATA}`)
  })

  test('a page of any site may call with a bearer token and read every response; cookies have no effect (D41)', async () => {
    const { accessToken } = (await connect()).tokens
    const origin = ['origin', 'https://host.example']
    const answers = [
      await given.call({ path: '/v1/me', key: accessToken, headers: origin }),
      await given.call({ path: '/v1/me', headers: [...origin, 'cookie', `session=${accessToken}`] }),
      await given.call({ path: '/v1/payments', key: accessToken, headers: origin, body: '{' }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 401, 400],
    )
    for (const { headers } of answers) {
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.equal(headers['access-control-allow-credentials'], undefined)
      assert.match(String(headers['access-control-expose-headers']), /WWW-Authenticate/)
    }
    const preflight = await given.call({
      method: 'OPTIONS',
      path: '/v1/payments',
      headers: [...origin, 'access-control-request-method', 'POST', 'access-control-request-headers', 'authorization'],
    })
    assert.equal(preflight.status, 204)
    assert.match(String(preflight.headers['access-control-allow-methods']), /POST/)
    assert.match(String(preflight.headers['access-control-allow-headers']), /authorization, content-type/)
  })

  function connect(scopes?: readonly Scope[]): Promise<ConnectedClient> {
    const { workspace, mode, agentId } = seeded
    return seedTokens(given.context, { workspace, mode, agentId, ...(scopes === undefined ? {} : { scopes }) })
  }

  function get(path: string, key: string): Promise<Answer> {
    return given.call({ path, key })
  }

  function getAt(host: string, key?: string): Promise<Answer> {
    return given.call({ path: '/v1/me', host, ...(key === undefined ? {} : { key }) })
  }

  function pay(key: string, changes: Record<string, unknown> = {}): Promise<Answer> {
    return given.call({ path: '/v1/payments', key, body: paymentBody(seeded, changes) })
  }
})
