import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../audit/audit-entry.ts'
import { listAuditActions, readAudit } from '../../../../test/support/context/audit.ts'
import { readAllowance } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { changePlan } from './change-plan.ts'
import { createEmptyWorkspace } from './create-empty-workspace.ts'
import { getWorkspace } from './get-workspace.ts'

describe('workspaces', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('10 workspaces created at once with the same name each get their own slug and audit entry', async () => {
    const create = () => createEmptyWorkspace(given.context, { name: 'Twins', plan: 'pro', actor: OPERATOR })
    const workspaces = await Promise.all(Array.from({ length: 10 }, create))
    assert.equal(new Set(workspaces.map(({ slug }) => slug)).size, 10)
    assert.ok(workspaces.some(({ slug }) => slug === 'twins'))
    for (const { id, slug } of workspaces) {
      assert.deepEqual(await readAudit(given.context.db, id), [
        {
          actor_kind: 'operator',
          actor_id: null,
          action: 'workspace.created',
          subject: id,
          details: { slug, name: 'Twins', plan: 'pro' },
        },
      ])
    }
  })

  test('each change to the plan or the used allowance writes one audit entry; a change without effect writes none', async () => {
    const { context } = given
    const workspace = await createEmptyWorkspace(context, { name: 'Plan', plan: 'developer', actor: OPERATOR })
    const actor = { kind: 'user', id: 'usr_ada' } as const
    assert.equal((await changePlan(context, { workspace, plan: 'developer', actor })).plan, 'developer')
    assert.deepEqual(await listAuditActions(context.db, workspace.id), ['workspace.created'])
    assert.equal((await changePlan(context, { workspace, plan: 'pro', actor })).plan, 'pro')
    assert.equal((await getWorkspace(context, workspace.slug)).plan, 'pro')
    await changePlan(context, { workspace, plan: 'pro', allowanceUsed: 7, actor: OPERATOR })
    assert.equal(await readAllowance(context.db, workspace.id), 7)
    const row = { action: 'plan.changed', subject: workspace.id }
    assert.deepEqual((await readAudit(context.db, workspace.id)).slice(1), [
      { ...row, actor_kind: 'user', actor_id: 'usr_ada', details: { plan: 'pro', before: 'developer' } },
      {
        ...row,
        actor_kind: 'operator',
        actor_id: null,
        details: { plan: 'pro', before: 'pro', allowance_used: 7 },
      },
    ])
  })
})
