import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../audit/audit-entry.ts'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { openConnections } from '../../../../test/support/database/read-rows.ts'
import { agent } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { changePlan } from '../workspaces/change-plan.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { createAgent } from './create-agent.ts'
import { listAgents } from './queries.ts'

describe('createAgent', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('of 50 parallel creations at 97 of 100 agents, exactly 3 succeed; creating an existing agent at the limit has no effect', async () => {
    const workspace = await createEmptyWorkspace(given.context, { name: 'Cap', plan: 'developer', actor: OPERATOR })
    for (let index = 0; index < 97; index += 1) await create(workspace, `agent ${index}`)
    const processes = [given.context, given.openAnother()] as const
    await openConnections(processes[0].db, processes[1].db)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        createAgent(processes[index % 2 === 0 ? 0 : 1], {
          workspaceId: workspace.id,
          mode: 'test',
          id: agent(`racer ${index}`),
          actor: OPERATOR,
        }),
      ),
    )
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as object] : []))
    assert.equal(refused.length, 47)
    for (const reason of refused) {
      const { type, code, details } = reason as { type: string; code: string; details: unknown }
      assert.deepEqual([type, code, details], ['validation_failed', 'agent_cap_reached', { agents_max: 100 }])
    }
    assert.equal((await list(workspace)).length, 100)
    assert.equal((await create(workspace, 'agent 0')).id, 'agent 0')
    await assert.rejects(create(workspace, 'one more'), { code: 'agent_cap_reached' })
    assert.equal((await create(workspace, 'one more', 'live')).mode, 'live')
    await changePlan(given.context, { workspace, plan: 'pro', actor: OPERATOR })
    assert.equal((await create(workspace, 'one more')).id, 'one more')
  })

  test('20 concurrent creations of one id create one agent, and every caller gets it', async () => {
    const workspace = await createEmptyWorkspace(given.context, { name: 'Race', plan: 'developer', actor: OPERATOR })
    const agents = await Promise.all(Array.from({ length: 20 }, () => create(workspace, 'same')))
    assert.equal(new Set(agents.map(({ createdAt }) => createdAt.getTime())).size, 1)
    assert.equal((await list(workspace)).length, 1)
    const [, ...rows] = await readAudit(given.context.db, workspace.id)
    const by = { actor_kind: 'operator', actor_id: null }
    assert.deepEqual(rows, [{ ...by, action: 'agent.created', subject: 'same', details: { mode: 'test' } }])
  })

  test('an id is unique only within one workspace and mode', async () => {
    const [left, right] = [
      await createEmptyWorkspace(given.context, { name: 'Left', plan: 'developer', actor: OPERATOR }),
      await createEmptyWorkspace(given.context, { name: 'Right', plan: 'developer', actor: OPERATOR }),
    ]
    await Promise.all([create(left, 'a'), create(left, 'a', 'live'), create(right, 'a')])
    assert.deepEqual(
      (await list(left)).map(({ mode }) => mode),
      ['test'],
    )
    assert.equal((await list(right)).length, 1)
  })

  test('agents are listed by the time of their creation, and in the same order at every call', async () => {
    const workspace = await createEmptyWorkspace(given.context, { name: 'Order', plan: 'developer', actor: OPERATOR })
    const at = (milliseconds: number) => ({ ...given.context, clock: { now: () => new Date(milliseconds) } })
    const creations: readonly (readonly [string, number])[] = [
      ['third', 2_000],
      ['b', 1_000],
      ['a', 1_000],
      ['last', 3_000],
    ]
    for (const [id, time] of creations) {
      await createAgent(at(time), { workspaceId: workspace.id, mode: 'test', id: agent(id), actor: OPERATOR })
    }
    for (let call = 0; call < 3; call += 1) {
      assert.deepEqual(
        (await list(workspace)).map(({ id }) => id),
        ['a', 'b', 'third', 'last'],
      )
    }
  })

  function create(workspace: Workspace, id: string, mode: 'test' | 'live' = 'test') {
    return createAgent(given.context, { workspaceId: workspace.id, mode, id: agent(id), actor: OPERATOR })
  }

  function list(workspace: Workspace) {
    return listAgents(given.context, { workspaceId: workspace.id, mode: 'test' })
  }
})
