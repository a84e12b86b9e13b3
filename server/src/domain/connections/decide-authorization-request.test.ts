import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../audit/audit-entry.ts'
import {
  exchange,
  issued,
  leaveWorkspace,
  listActions,
  REDIRECT_URI,
  seedWorkspace,
  seedMember,
  seedRequest,
  sessionOf,
  setRole,
  stopClock,
  type SeededRequest,
} from '../../../../test/support/context/connection-rows.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { agent } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { createAgent } from '../agents/create-agent.ts'
import type { Context } from '../context.ts'
import type { Decision } from './authorization-request.ts'
import { decideAuthorizationRequest } from './decide-authorization-request.ts'
import { findClient, getAuthorizationRequest } from './queries.ts'
import { REQUEST_LIFETIME_MS } from './limits.ts'

type Approval = Extract<Decision, { approve: true }>

describe('authorization requests', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a request is found by its handle, unchanged', async () => {
    const still = stopClock(ctx)
    const seeded = await seedRequest(still, { scopes: ['wallet:read'], resource: 'https://api.example' })
    const request = await getAuthorizationRequest(still, seeded)
    assert.deepEqual(request, {
      client: seeded.client,
      redirectUri: REDIRECT_URI,
      scopes: ['wallet:read'],
      state: 'state of the client',
      codeChallenge: request.codeChallenge,
      resource: 'https://api.example',
      agentId: null,
      createdAt: still.clock.now(),
      expiresAt: new Date(still.clock.now().getTime() + REQUEST_LIFETIME_MS),
      decidedAt: null,
    })
  })

  test('an unknown handle is 404, even if it is well-formed', async () => {
    for (const handle of ['', 'svc_oar_', createSecret(SECRET_PREFIXES.requestHandle)]) {
      await assert.rejects(getAuthorizationRequest(ctx, { handle }), { code: 'authorization_request_not_found' })
      const session = sessionOf(ctx, { userId: 'usr_none' })
      const decided = decideAuthorizationRequest(ctx, { handle, session, decision: { approve: false } })
      await assert.rejects(decided, { code: 'authorization_request_not_found' })
    }
  })

  test('a request expires after exactly ten minutes', async () => {
    const still = stopClock(ctx)
    const [early, late] = [await seedRequest(still), await seedRequest(still)]
    still.move(REQUEST_LIFETIME_MS - 1)
    await getAuthorizationRequest(still, late)
    await decide(early, {}, still)
    still.move(1)
    await assert.rejects(getAuthorizationRequest(still, late), { code: 'authorization_request_not_found' })
    await assert.rejects(decide(late, {}, still), { code: 'authorization_request_not_found' })
  })

  test('of twenty concurrent decisions one succeeds, and creates one code and one connection', async () => {
    const seeded = await seedRequest(ctx)
    const processes = [ctx, given.openAnother()] as const
    const decisions = Array.from({ length: 20 }, (_, index) => {
      const process = processes[index % 2 === 0 ? 0 : 1]
      return index % 5 === 0 ? deny(seeded, process) : decide(seeded, {}, process)
    })
    const outcomes = await Promise.allSettled(decisions)
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue
      assert.equal((outcome.reason as { code: string }).code, 'authorization_request_decided')
    }
    assert.equal((await listActions(ctx, seeded.membership.workspace.id)).length + (await countDenials(seeded)), 1)
    await assert.rejects(getAuthorizationRequest(ctx, seeded), { code: 'authorization_request_decided' })
  })

  test('a denial is reported to the client, creates no connection, and is logged for the user who denied', async () => {
    const seeded = await seedRequest(ctx)
    const decided = await deny(seeded)
    assert.deepEqual(decided, { redirectUri: REDIRECT_URI, state: 'state of the client', error: 'access_denied' })
    assert.equal(await countConnections(seeded), 0)
    assert.equal(await countDenials(seeded), 1)
    await assert.rejects(decide(seeded), { code: 'authorization_request_decided' })
  })

  test('an approval issues a code for what the user chose, and is logged for the workspace', async () => {
    const seeded = await seedRequest(ctx)
    const decided = await decide(seeded, { scopes: ['x402:pay', 'wallet:read'] })
    assert.deepEqual([decided.redirectUri, decided.state], [REDIRECT_URI, 'state of the client'])
    const { code = '' } = decided
    assert.deepEqual(issued(await exchange(ctx, { ...seeded, code })).scopes, ['wallet:read', 'x402:pay'])
    const { workspace, userId } = seeded.membership
    const [entry] = await readRows(
      ctx.db,
      "select * from audit_entries where log_id = $1 and action = 'connection.approved'",
      [workspace.id],
    )
    assert.deepEqual([entry?.['actor_kind'], entry?.['actor_id']], ['user', userId])
    assert.deepEqual(entry?.['details'], {
      client_id: seeded.client.id,
      client_name: 'Test client',
      mode: 'test',
      agent_id: seeded.agentId,
      scopes: ['wallet:read', 'x402:pay'],
    })
  })

  test('a decision marks the client as used, whether it approves or denies', async () => {
    for (const decideOn of [deny, decide]) {
      const seeded = await seedRequest(ctx)
      assert.equal((await findClient(ctx, seeded.client))?.lastUsedAt, null)
      await decideOn(seeded)
      assert.ok((await findClient(ctx, seeded.client))?.lastUsedAt instanceof Date)
    }
  })

  const refusals: readonly (readonly [string, (seeded: SeededRequest) => Promise<Partial<Approval>>, object])[] = [
    ['an agent that does not exist', async () => ({ agentId: agent('nobody') }), { code: 'agent_not_found' }],
    ['an agent of the other mode', async () => ({ mode: 'live' }), { code: 'agent_not_found' }],
    [
      'an agent of another workspace',
      async () => {
        const workspace = await seedWorkspace(ctx)
        await createAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: agent('theirs'), actor: OPERATOR })
        return { agentId: agent('theirs') }
      },
      { code: 'agent_not_found' },
    ],
    ['a scope that was not asked for', async () => ({ scopes: ['wallet:transfer'] }), { status: 400 }],
    ['no scope at all', async () => ({ scopes: [] }), { status: 400 }],
    [
      'a workspace of others',
      async () => ({ membership: await seedMember(ctx, await seedWorkspace(ctx)) }),
      { code: 'role_insufficient' },
    ],
  ]
  for (const [what, change, problem] of refusals) {
    test(`an approval for ${what} is rejected, and leaves the request open`, async () => {
      const seeded = await seedRequest(ctx, { scopes: ['wallet:read'] })
      await assert.rejects(decide(seeded, await change(seeded)), problem)
      assert.equal(await countConnections(seeded), 0)
      assert.equal((await decide(seeded)).error, undefined)
    })
  }

  test('a user who lost the role or left after opening the page cannot approve', async () => {
    const [demoted, left] = [await seedRequest(ctx), await seedRequest(ctx)]
    await setRole(ctx, demoted.membership, 'viewer')
    await leaveWorkspace(ctx, left.membership)
    for (const seeded of [demoted, left]) {
      await assert.rejects(decide(seeded), { code: 'role_insufficient' })
      assert.equal(await countConnections(seeded), 0)
    }
  })

  function decide(
    { handle, membership, mode, agentId }: SeededRequest,
    change: Partial<Approval> = {},
    ways: Pick<Context, 'db' | 'clock'> = ctx,
  ) {
    const decision: Decision = { approve: true, membership, mode, agentId, scopes: null, ...change }
    return decideAuthorizationRequest(ways, { handle, session: sessionOf(ways, membership), decision })
  }

  function deny({ handle, membership }: SeededRequest, ways: Pick<Context, 'db' | 'clock'> = ctx) {
    const session = sessionOf(ways, membership)
    return decideAuthorizationRequest(ways, { handle, session, decision: { approve: false } })
  }

  async function countConnections({ client }: SeededRequest): Promise<number> {
    return (await readRows(ctx.db, 'select id from connections where client_id = $1', [client.id])).length
  }

  async function countDenials({ membership }: SeededRequest): Promise<number> {
    const actions = await listActions(ctx, membership.userId)
    return actions.filter((action) => action === 'connection.denied').length
  }
})
