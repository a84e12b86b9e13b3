import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../audit/audit-entry.ts'
import {
  exchange,
  isAlive,
  issued,
  seedRequest,
  sessionOf,
  type SeededRequest,
} from '../../../../test/support/context/connection-rows.ts'
import { openSandboxEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  changeUnsigned,
  openActive,
  openOwned,
  openPending,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { createAgent } from './create-agent.ts'
import { listAgents } from './queries.ts'
import { decideAuthorizationRequest } from '../connections/decide-authorization-request.ts'
import type { Context } from '../context.ts'
import { issueKey } from '../keys/issue-key.ts'
import { rotateKey } from '../keys/rotate-key.ts'
import { deleteAgent } from './delete-agent.ts'

const NO_AGENT = { status: 404, code: 'agent_not_found' } as const
const HAS_GRANTS = { status: 409, code: 'has_active_grants' } as const

describe('deleting an agent while something is created for it', () => {
  let given: TestContext
  let ctx: Context
  let other: Context
  before(async () => {
    const { use } = await openSandboxEnclave()
    given = await openTestContext(use)
    ctx = given.context
    other = given.openAnother()
    await openConnections(ctx.db, other.db)
  })
  after(() => given.close())

  test('the deletion fails if a grant is created first', async () => {
    const owned = await openOwned(ctx)
    const [opened, deleted] = await inOrder(owned.workspaceId, [() => openPending(ctx, owned), () => remove(owned)])
    assert.equal(opened?.status, 'fulfilled')
    assert.deepEqual(reasonOf(deleted), HAS_GRANTS)
  })

  test('the deletion succeeds if it comes first, and the grant then finds no agent', async () => {
    const owned = await openOwned(ctx)
    const [deleted, opened] = await inOrder(owned.workspaceId, [() => remove(owned), () => openPending(ctx, owned)])
    assert.equal(deleted?.status, 'fulfilled')
    assert.deepEqual(reasonOf(opened), NO_AGENT)
    assert.deepEqual(await listGrants(owned), [])
  })

  test('if the agent is created again meanwhile, a grant for the deleted agent is still rejected', async () => {
    const owned = await openOwned(ctx)
    const { workspaceId, mode, agentId } = owned
    const create = () => createAgent(other, { workspaceId, mode, id: agentId, actor: OPERATOR })
    const [deleted, created, opened] = await inOrder(workspaceId, [
      () => remove(owned),
      create,
      () => openPending(ctx, owned),
    ])
    assert.deepEqual([deleted?.status, created?.status], ['fulfilled', 'fulfilled'])
    assert.deepEqual(reasonOf(opened), NO_AGENT)
    assert.deepEqual(await listGrants(owned), [])
    const made = await openActive(ctx, owned)
    assert.equal(made.status, 'active')
    await signChange(ctx, owned, { grantId: made.id, change: 'revoke' })
    await remove(owned)
  })

  test('the deletion fails while a grant waits for its signature, and succeeds once that grant is dropped', async () => {
    const owned = await openOwned(ctx)
    const { id } = await openPending(ctx, owned)
    await assert.rejects(remove(owned), HAS_GRANTS)
    await changeUnsigned(ctx, owned, { grantId: id, change: 'revoke' })
    await remove(owned)
    assert.deepEqual(await listAgents(ctx, { workspaceId: owned.workspaceId, mode: 'test' }), [])
  })

  test('the deletion ends a connection that was approved first', async () => {
    const request = await seedRequest(ctx)
    const workspaceId = request.membership.workspace.id
    const [approved, deleted] = await inOrder(workspaceId, [() => approve(request), () => removeOf(request)])
    assert.deepEqual([approved?.status, deleted?.status], ['fulfilled', 'fulfilled'])
    const code = approved?.status === 'fulfilled' ? String((approved.value as { code?: string }).code) : ''
    assert.equal((await exchange(ctx, { ...request, code })).kind, 'refused')
  })

  test('a consent after the deletion does not find the agent, but can be given for another agent', async () => {
    const request = await seedRequest(ctx)
    const workspaceId = request.membership.workspace.id
    const [deleted, approved] = await inOrder(workspaceId, [() => removeOf(request), () => approve(request)])
    assert.equal(deleted?.status, 'fulfilled')
    assert.deepEqual(reasonOf(approved), NO_AGENT)
    await createAgent(ctx, { workspaceId, mode: 'test', id: request.agentId, actor: OPERATOR })
    const { code = '' } = await approve(request)
    assert.ok(await isAlive(ctx, issued(await exchange(ctx, { ...request, code })).accessToken))
  })

  test('the deletion revokes a key that was bound to the agent first', async () => {
    const owned = await openOwned(ctx)
    const [issuedKey, deleted] = await inOrder(owned.workspaceId, [() => bindKey(owned), () => remove(owned)])
    assert.deepEqual([issuedKey?.status, deleted?.status], ['fulfilled', 'fulfilled'])
    assert.deepEqual(await countKeys(owned), { usable: 0, revoked: 1 })
  })

  test('after the deletion, a key for the agent finds no agent, and a key of the agent cannot be rotated', async () => {
    const owned = await openOwned(ctx)
    const { secret } = await bindKey(owned)
    const rotate = () => rotateKey(ctx, { secret, actor: OPERATOR })
    const steps = [() => remove(owned), () => bindKey(owned), rotate]
    const [deleted, bound, rotated] = await inOrder(owned.workspaceId, steps)
    assert.equal(deleted?.status, 'fulfilled')
    assert.deepEqual(reasonOf(bound), NO_AGENT)
    assert.deepEqual(reasonOf(rotated), { status: 409, code: 'key_not_rotatable' })
    assert.deepEqual(await countKeys(owned), { usable: 0, revoked: 1 })
  })

  test('the deletion revokes both keys of a rotation that came first', async () => {
    const owned = await openOwned(ctx)
    const { secret } = await bindKey(owned)
    const rotate = () => rotateKey(ctx, { secret, actor: OPERATOR })
    const [rotated, deleted] = await inOrder(owned.workspaceId, [rotate, () => remove(owned)])
    assert.deepEqual([rotated?.status, deleted?.status], ['fulfilled', 'fulfilled'])
    assert.deepEqual(await countKeys(owned), { usable: 0, revoked: 2 })
  })

  function bindKey({ workspaceId, mode, agentId }: Owned) {
    return issueKey(ctx, { workspaceId, mode, agentId, actor: OPERATOR })
  }

  /** Counts the keys of the workspace that are bound to an agent. */
  async function countKeys({ workspaceId }: Owned): Promise<object> {
    const rows = await readRows(
      ctx.db,
      'select revoked_at from api_keys where workspace_id = $1 and agent_id is not null',
      [workspaceId],
    )
    const usable = rows.filter((row) => row['revoked_at'] === null).length
    return { usable, revoked: rows.length - usable }
  }

  function remove({ workspaceId, mode, agentId }: Owned): Promise<void> {
    return deleteAgent(other, { workspaceId, mode, id: agentId, actor: OPERATOR })
  }

  function removeOf({ membership, mode, agentId }: SeededRequest): Promise<void> {
    return deleteAgent(other, { workspaceId: membership.workspace.id, mode, id: agentId, actor: OPERATOR })
  }

  function approve({ handle, membership, mode, agentId }: SeededRequest) {
    const decision = { approve: true, membership, mode, agentId, scopes: null } as const
    return decideAuthorizationRequest(ctx, { handle, session: sessionOf(ctx, membership), decision })
  }

  /**
   * Starts each step once the step before it waits for the lock on the workspace, then lets the steps continue in that
   * order.
   */
  async function inOrder(
    workspaceId: string,
    steps: readonly (() => Promise<unknown>)[],
  ): Promise<PromiseSettledResult<unknown>[]> {
    const started: Promise<unknown>[] = []
    await ctx.db.transaction(async (transaction) => {
      await transaction.run({
        name: '',
        text: 'select 1 from workspaces where id = $1 for no key update',
        values: [workspaceId],
        read: () => null,
      })
      for (const step of steps) {
        const made = step()
        made.catch(() => undefined)
        started.push(made)
        await waitFor('it waits for the lock', async () => (await countWaiting()) === started.length)
      }
    })
    return await Promise.allSettled(started)
  }

  async function countWaiting(): Promise<number> {
    const text = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await readRows(ctx.db, text)).length
  }

  function listGrants({ workspaceId }: Owned) {
    return readRows(ctx.db, 'select id from grants where workspace_id = $1', [workspaceId])
  }

  function reasonOf(outcome: PromiseSettledResult<unknown> | undefined): object {
    if (outcome?.status !== 'rejected') return assert.fail('it was not refused')
    const { status, code } = outcome.reason as { status: number; code: string }
    return { status, code }
  }
})
