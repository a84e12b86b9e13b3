import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import {
  exchange,
  isAlive,
  readConnection,
  seedConnection,
  seedRequest,
  seedTokens,
  sessionOf,
} from '../../../../test/support/context/connection-rows.ts'
import { expectPayment, expectRefusal } from '../../../../test/support/context/expect-outcome.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { makeTerms } from '../../../../test/support/context/grant-fixture.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { agent, paymentRequest, seed, seedGrant, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { createAgent } from './create-agent.ts'
import { getAgent, listAgents } from './queries.ts'
import { countAgents } from './agents-store.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { decideAuthorizationRequest } from '../connections/decide-authorization-request.ts'
import type { Context } from '../context.ts'
import { authenticateKey } from '../keys/authenticate-key.ts'
import { issueKey } from '../keys/issue-key.ts'
import { revokeKey } from '../keys/revoke-key.ts'
import { rotateKey } from '../keys/rotate-key.ts'
import { createPayment } from '../payment-requests/create-payment.ts'
import { deleteAgent } from './delete-agent.ts'
import { openGrant } from '../grants/open-grant.ts'
import { markGrantRevoked } from '../grants/grants-store.ts'

const NO_AGENT = { status: 404, code: 'agent_not_found' } as const
const DAY_MS = 24 * 60 * 60 * 1_000

/** An agent can be deleted only when all its grants are revoked. Its OAuth connections end with it (D11). */
describe('deleteAgent', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('the deletion is rejected while a grant is not revoked, and the error lists such grants', async () => {
    const seeded = await seed(ctx)
    const other = await seedWallet(ctx, seeded)
    const second = await seedGrant(ctx, { ...seeded, wallet: other })
    await assert.rejects(remove(seeded), (error: { status: number; code: string; details: unknown }) => {
      assert.deepEqual([error.status, error.code], [409, 'has_active_grants'])
      const named = (error.details as { grants: { id: string }[] }).grants
      assert.deepEqual(
        named.toSorted((left, right) => (left.id < right.id ? -1 : 1)),
        [
          { id: seeded.grant.id, wallet: seeded.wallet, status: 'active' },
          { id: second.id, wallet: other, status: 'active' },
        ].toSorted((left, right) => (left.id < right.id ? -1 : 1)),
      )
      return true
    })
    await revoke(seeded)
    await assert.rejects(remove(seeded), { details: { grants: [{ id: second.id, wallet: other, status: 'active' }] } })
    assert.equal((await getAgent(ctx, at(seeded))).activeSigners, 1)
    await ctx.db.write(markGrantRevoked(seeded.workspace.id, second.id, ctx.clock.now()))
    await remove(seeded)
  })

  test('a deleted agent is no longer found and no longer counts towards the plan', async () => {
    const seeded = await seedRevoked()
    const { workspace, agentId } = seeded
    assert.equal(await ctx.db.read(countAgents(workspace.id, 'test')), 1)
    await remove(seeded)
    assert.equal(await ctx.db.read(countAgents(workspace.id, 'test')), 0)
    assert.deepEqual(await listAgents(ctx, { workspaceId: workspace.id, mode: 'test' }), [])
    await assert.rejects(getAgent(ctx, at(seeded)), NO_AGENT)
    expectRefusal(await createPayment(ctx, paymentRequest(seeded)), 'agent_not_found')
    const asked = { workspaceId: workspace.id, mode: 'test', agentId, wallet: seeded.wallet, ...makeTerms() } as const
    await assert.rejects(openGrant(ctx, { ...asked, actor: OPERATOR }), NO_AGENT)
    await assert.rejects(remove(seeded), NO_AGENT)
  })

  test("the agent's payments are kept", async () => {
    const seeded = await seed(ctx)
    const paid = expectPayment(await createPayment(ctx, paymentRequest(seeded)))
    await revoke(seeded)
    await remove(seeded)
    const rows = await readRows(
      ctx.db,
      `select p.id from payments p
        join agents a on a.workspace_id = p.workspace_id and a.mode = p.mode and a.id = p.agent_id where p.id = $1`,
      [paid.id],
    )
    assert.deepEqual(rows, [{ id: paid.id }])
  })

  test('an agent that does not exist, or is in the other mode or another workspace, is not found', async () => {
    const [seeded, other] = [await seedRevoked(), await seedRevoked()]
    const asked = at(seeded)
    for (const wrong of [
      ...['', '.', 'a\u0000', 'x'.repeat(65), 'nobody'].map((id) => ({ ...asked, id })),
      { ...asked, mode: 'live' as const },
      { ...asked, workspaceId: other.workspace.id },
    ]) {
      await assert.rejects(deleteAgent(ctx, { ...wrong, actor: OPERATOR }), NO_AGENT)
    }
    assert.equal((await getAgent(ctx, asked)).id, seeded.agentId)
  })

  test("the deletion ends the agent's connections forever, and no others", async () => {
    const { workspace, agentId } = await seedRevoked()
    const options = { workspace, agentId }
    const connected = await seedTokens(ctx, options)
    const { membership } = connected
    const consented = await seedConnection(ctx, { ...options, membership })
    const other = await seedTokens(ctx, { membership, agentId: agent('other') })
    await deleteAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: agentId, actor: OPERATOR })
    assert.equal(await isAlive(ctx, connected.tokens.accessToken), false)
    assert.equal((await exchange(ctx, consented)).kind, 'refused')
    assert.equal(await isAlive(ctx, other.tokens.accessToken), true)

    await createAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: agentId, actor: OPERATOR })
    assert.equal(await isAlive(ctx, connected.tokens.accessToken), false)
    assert.equal((await exchange(ctx, consented)).kind, 'refused')
    const again = await seedTokens(ctx, { ...options, membership })
    assert.equal(await isAlive(ctx, again.tokens.accessToken), true)
  })

  test('the audit log records the deletion and each connection that it ended', async () => {
    const { workspace, agentId } = await seedRevoked()
    const ended = await seedTokens(ctx, { workspace, agentId })
    const { id } = await readConnection(ctx, ended)
    const old = later(ctx, -40 * DAY_MS)
    await seedTokens(old, { workspace, agentId, membership: ended.membership })
    const actor = { kind: 'user', id: ended.membership.userId } as const
    await deleteAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: agentId, actor })
    const rows = (await readAudit(ctx.db, workspace.id)).slice(-2)
    const by = { actor_kind: 'user', actor_id: actor.id }
    assert.deepEqual(
      rows.toSorted((left, right) => (left['action'] < right['action'] ? -1 : 1)),
      [
        { ...by, action: 'agent.deleted', subject: agentId, details: { mode: 'test' } },
        { ...by, action: 'connection.revoked', subject: id, details: {} },
      ],
      'connections that had already ended are not logged',
    )
  })

  test('the deletion revokes the usable keys that are bound to the agent, and no others, and logs each', async () => {
    const { workspace, agentId, key } = await seedRevoked()
    const bound = { workspaceId: workspace.id, mode: 'test', agentId, actor: OPERATOR } as const
    const first = await issueKey(ctx, { ...bound, scopes: ['wallet:read'] })
    const second = await rotateKey(ctx, { secret: first.secret, actor: OPERATOR })
    const ended = await issueKey(ctx, { ...bound, name: 'Ended' })
    await revokeKey(ctx, { secret: ended.secret, actor: OPERATOR })
    const expired = await issueKey(ctx, { ...bound, name: 'Expired' })
    const successor = await rotateKey(later(ctx, -2 * DAY_MS), { secret: expired.secret, actor: OPERATOR })
    const other = agent('other')
    await createAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: other, actor: OPERATOR })
    await createAgent(ctx, { workspaceId: workspace.id, mode: 'live', id: agentId, actor: OPERATOR })
    const kept = [
      key,
      (await issueKey(ctx, { ...bound, agentId: other })).secret,
      (await issueKey(ctx, { ...bound, mode: 'live' })).secret,
    ]
    await deleteAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: agentId, actor: OPERATOR })
    for (const secret of [first.secret, second.secret]) assert.equal(await authenticate(secret), null)
    for (const secret of kept) assert.notEqual(await authenticate(secret), null)
    const states = await readRows(ctx.db, 'select revoked_at from api_keys where id = $1', [expired.key.id])
    assert.deepEqual(states, [{ revoked_at: null }], 'a key that had expired is not changed')
    // The entry of `ended`, which was revoked before the deletion, is left out by its id, because entries of one
    // millisecond have no order.
    const rows = (await readAudit(ctx.db, workspace.id)).filter(
      (row) => row['action'] === 'key.revoked' && row['subject'] !== ended.key.id,
    )
    const details = { mode: 'test', name: 'API key', agent_id: agentId, scopes: 'wallet:read' }
    const logged = new Map(rows.map((row) => [row['subject'], row['details']]))
    assert.deepEqual([logged.size, logged.get(first.key.id), logged.get(second.key.id)], [3, details, details])
    assert.deepEqual(logged.get(successor.key.id), { mode: 'test', name: 'Expired', agent_id: agentId })
  })

  test('an agent that is created again with the same id keeps nothing except what it spent in the last 24 hours', async () => {
    const seeded = await seed(ctx, { dailyCap: '10' })
    expectPayment(await createPayment(ctx, paymentRequest(seeded, { amountUsdc: '6' })))
    await revoke(seeded)
    await remove(seeded)
    const hourLater = later(ctx, 60 * 60 * 1_000)
    const made = await createAgent(hourLater, { ...at(seeded), actor: OPERATOR })
    assert.deepEqual([made.activeSigners, made.pendingSigners, made.wallets], [0, 0, []])
    const found = await getAgent(hourLater, at(seeded))
    assert.deepEqual(found.createdAt, made.createdAt)
    assert.ok(found.createdAt.getTime() > Date.now() + 59 * 60 * 1_000)
    await seedGrant(ctx, seeded, { dailyCap: '10' })
    expectRefusal(await createPayment(ctx, paymentRequest(seeded, { amountUsdc: '4.000001' })), 'daily_cap_exceeded')
    expectPayment(await createPayment(ctx, paymentRequest(seeded, { amountUsdc: '4' })))
  })

  test("the deletion frees a place under the plan's limit, and creating the agent again uses the place", async () => {
    const workspace = await createEmptyWorkspace(ctx, { name: 'Cap', plan: 'developer', actor: OPERATOR })
    const create = (id: string) =>
      createAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: agent(id), actor: OPERATOR })
    for (let index = 0; index < 100; index += 1) await create(`agent ${index}`)
    await deleteAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: 'agent 7', actor: OPERATOR })
    await create('one more')
    await assert.rejects(create('agent 7'), { code: 'agent_cap_reached' })
    await deleteAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: 'one more', actor: OPERATOR })
    assert.equal((await create('agent 7')).id, 'agent 7')
    assert.equal((await listAgents(ctx, { workspaceId: workspace.id, mode: 'test' })).length, 100)
  })

  test('one of 20 concurrent deletions succeeds, and 20 concurrent creations create one agent', async () => {
    const seeded = await seedRevoked()
    const processes = [ctx, given.openAnother()] as const
    await openConnections(processes[0].db, processes[1].db)
    const each = <Done>(run: (process: Context) => Promise<Done>) =>
      Promise.allSettled(Array.from({ length: 20 }, (_, index) => run(processes[index % 2 === 0 ? 0 : 1])))
    const deleted = await each((process) => deleteAgent(process, { ...at(seeded), actor: OPERATOR }))
    assert.equal(deleted.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of deleted) {
      if (outcome.status === 'rejected') assert.equal((outcome.reason as { code: string }).code, 'agent_not_found')
    }
    const made = await each((process) => createAgent(process, { ...at(seeded), actor: OPERATOR }))
    const times = made.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value.createdAt.getTime() : 0))
    assert.equal(new Set(times).size, 1)
    const actions = (await readAudit(ctx.db, seeded.workspace.id)).map((row) => String(row['action']))
    assert.deepEqual(actions.filter((action) => action.startsWith('agent.')).toSorted(), [
      ...['agent.created', 'agent.created', 'agent.deleted'],
    ])
  })

  test('a consent that was requested before the deletion does not find the agent', async () => {
    const { workspace, agentId } = await seedRevoked()
    const { membership, handle } = await seedRequest(ctx, { workspace, agentId })
    await deleteAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: agentId, actor: OPERATOR })
    const decision = { approve: true, membership, mode: 'test', agentId, scopes: null } as const
    await assert.rejects(
      decideAuthorizationRequest(ctx, { handle, session: sessionOf(ctx, membership), decision }),
      NO_AGENT,
    )
  })

  function at({ workspace, agentId }: Pick<Seed, 'workspace' | 'agentId'>) {
    return { workspaceId: workspace.id, mode: 'test', id: agentId } as const
  }

  function remove(seeded: Seed): Promise<void> {
    return deleteAgent(ctx, { ...at(seeded), actor: OPERATOR })
  }

  async function revoke({ workspace, grant }: Seed): Promise<void> {
    await ctx.db.write(markGrantRevoked(workspace.id, grant.id, ctx.clock.now()))
  }

  function authenticate(credential: string) {
    return authenticateKey(ctx, { credential, bucket: 'default', requiredScope: null })
  }

  async function seedRevoked(): Promise<Seed> {
    const seeded = await seed(ctx)
    await revoke(seeded)
    return seeded
  }
})
