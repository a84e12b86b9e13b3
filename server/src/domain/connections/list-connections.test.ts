import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  isAlive,
  issued,
  leaveWorkspace,
  listActions,
  readConnection,
  refresh,
  seedWorkspace,
  seedConnection,
  seedMember,
  seedTokens,
  setRole,
  stopClock,
} from '../../../../test/support/context/connection-rows.ts'
import { readPlan } from '../../../../test/support/database/read-plan.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { SCOPES } from '../../values/scope.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { REFRESH_TOKEN_LIFETIME_MS } from './limits.ts'
import { listConnections } from './queries.ts'
import { revokeConnection } from './revoke-connection.ts'
import { revokeByAgent } from './connections-store.ts'

const ACTOR: Actor = { kind: 'user', id: 'usr_someone' }

describe('listConnections and revokeConnection', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a workspace sees its own connections, newest first, and none of other workspaces', async () => {
    const still = stopClock(ctx)
    const membership = await seedMember(still, await seedWorkspace(still))
    const first = await seedTokens(still, { membership })
    await seedTokens(still)
    still.move(1_000)
    const second = await seedTokens(still, { membership, mode: 'live', scopes: ['wallet:read'] })
    const now = still.clock.now().getTime()
    const listed = await listConnections(still, { workspaceId: membership.workspace.id })
    const expected = [
      { seeded: second, mode: 'live', scopes: ['wallet:read'], time: now },
      { seeded: first, mode: 'test', scopes: SCOPES, time: now - 1_000 },
    ]
    assert.deepEqual(
      listed.map(({ id: _id, ...rest }) => rest),
      expected.map(({ seeded, mode, scopes, time }) => ({
        client: { id: seeded.client.id, kind: 'registered', name: 'Test client', redirectHosts: ['client.example'] },
        mode,
        agentId: seeded.agentId,
        scopes,
        userId: membership.userId,
        userName: 'Ada',
        createdAt: new Date(time),
        expiresAt: new Date(time + REFRESH_TOKEN_LIFETIME_MS),
        lastUsedAt: null,
      })),
    )
    const modes = async (mode: Mode) =>
      (await listConnections(still, { workspaceId: membership.workspace.id, mode })).map(
        (connection) => connection.mode,
      )
    assert.deepEqual([await modes('test'), await modes('live')], [['test'], ['live']])
  })

  test('the last use of a connection is the last use of any of its tokens', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still)
    const lastUse = async () =>
      (await listConnections(still, { workspaceId: seeded.membership.workspace.id }))[0]?.lastUsedAt?.getTime()
    still.move(1_000)
    assert.ok(await isAlive(still, seeded.tokens.accessToken))
    const first = still.clock.now().getTime()
    assert.equal(await lastUse(), first)
    const next = issued(await refresh(still, seeded, seeded.tokens.refreshToken))
    still.move(1_000)
    assert.equal(await lastUse(), first, 'a refresh is no request')
    assert.ok(await isAlive(still, next.accessToken))
    assert.equal(await lastUse(), first + 1_000)
  })

  test('a refresh extends a connection; after it has expired it is no longer listed', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still)
    const list = () => listConnections(still, { workspaceId: seeded.membership.workspace.id })
    still.move(REFRESH_TOKEN_LIFETIME_MS - 1)
    issued(await refresh(still, seeded, seeded.tokens.refreshToken))
    const end = still.clock.now().getTime() + REFRESH_TOKEN_LIFETIME_MS
    assert.deepEqual(
      (await list()).map(({ expiresAt }) => expiresAt.getTime()),
      [end],
    )
    still.move(REFRESH_TOKEN_LIFETIME_MS)
    assert.deepEqual(await list(), [])
  })

  test('connections that were never exchanged, were revoked, or belong to a former member are not listed', async () => {
    const workspace = await seedWorkspace(ctx)
    const [open, gone] = [await seedMember(ctx, workspace), await seedMember(ctx, workspace)]
    await seedConnection(ctx, { membership: open })
    await seedTokens(ctx, { membership: gone })
    await leaveWorkspace(ctx, gone)
    assert.deepEqual(await listConnections(ctx, { workspaceId: workspace.id }), [])
  })

  test('a connection of a member who is now a viewer is listed, because it would work again with the role, and can be revoked', async () => {
    const seeded = await seedTokens(ctx)
    const workspaceId = seeded.membership.workspace.id
    await setRole(ctx, seeded.membership, 'viewer')
    const [listed] = await listConnections(ctx, { workspaceId })
    assert.ok(listed !== undefined)
    await revokeConnection(ctx, { workspaceId, id: listed.id, actor: ACTOR })
    await setRole(ctx, seeded.membership, 'owner')
    assert.equal(await isAlive(ctx, seeded.tokens.accessToken), false)
  })

  test('a revoked connection stops working at once and permanently, and the revocation is logged once', async () => {
    const seeded = await seedTokens(ctx)
    const workspaceId = seeded.membership.workspace.id
    const { id } = await readConnection(ctx, seeded)
    for (let time = 0; time < 3; time += 1) await revokeConnection(ctx, { workspaceId, id, actor: ACTOR })
    assert.equal(await isAlive(ctx, seeded.tokens.accessToken), false)
    assert.equal((await refresh(ctx, seeded, seeded.tokens.refreshToken)).kind, 'refused')
    assert.deepEqual(await listConnections(ctx, { workspaceId }), [])
    assert.deepEqual(await listActions(ctx, workspaceId), ['connection.approved', 'connection.revoked'])
    assert.equal((await readConnection(ctx, seeded)).revokedBecause, 'user')
  })

  test("an unknown connection is 404, and so is another workspace's", async () => {
    const seeded = await seedTokens(ctx)
    const { id } = await readConnection(ctx, seeded)
    const workspaceId = seeded.membership.workspace.id
    const unknown = [
      { workspaceId, id: 'con_1' },
      { workspaceId, id: createId('connection', given.clock.now()) },
      { workspaceId: (await seedWorkspace(ctx)).id, id },
    ]
    for (const named of unknown) {
      await assert.rejects(revokeConnection(ctx, { ...named, actor: ACTOR }), { code: 'connection_not_found' })
    }
    assert.ok(await isAlive(ctx, seeded.tokens.accessToken))
  })

  test('deleting an agent finds its unrevoked connections quickly among many', async () => {
    const { membership } = await seedTokens(ctx)
    const workspaceId = membership.workspace.id
    await readRows(
      ctx.db,
      `insert into connections (workspace_id, id, mode, agent_id, user_id, member_since, client_id, scopes, rate_subject,
          created_at, expires_at, revoked_at, revoked_because)
        select workspace_id, id || i, mode, agent_id, user_id, member_since, client_id, scopes, rate_subject, created_at,
          expires_at, created_at, 'user'
        from connections, generate_series(1, 2000) i where workspace_id = $1`,
      [workspaceId],
    )
    const query = revokeByAgent({ workspaceId, mode: 'test', agentId: 'agent' }, given.clock.now())
    assert.match(await readPlan(ctx.db, ['connections'], query), /Index Scan using connections_of_agent/)
  })
})
