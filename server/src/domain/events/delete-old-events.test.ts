import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { announce, announceMany, makeEndpoint, makeWorkspace } from '../../../../test/support/context/delivery-rows.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { EVENT_RETENTION_MS } from './event.ts'

let given: TestContext
before(async () => {
  given = await openTestContext()
})
after(() => given.close())

test('events are deleted after 30 days in bounded steps, but not while a delivery needs them', async () => {
  const ctx = given.context
  const [busy, waiting, quiet] = [await makeWorkspace(ctx), await makeWorkspace(ctx), await makeWorkspace(ctx)]
  await announceMany(ctx, busy, { count: 5_001, from: new Date(ctx.clock.now().getTime() - 10_000) })
  await makeEndpoint(ctx, waiting)
  await announce(ctx, waiting)
  await announce(ctx, quiet)
  const young = later(ctx, EVENT_RETENTION_MS - 60_000)
  assert.equal(await cleanUpOnce(young, 'events'), 0)

  const old = later(ctx, EVENT_RETENTION_MS + 60_000)
  const fresh = await announce(old, quiet)
  const steps: number[] = []
  // A call examines the workspaces after those of the call before, and begins again after the last one.
  do steps.push(await cleanUpOnce(old, 'events'))
  while (steps.slice(-2).some((deleted) => deleted > 0) || steps.length < 2)
  assert.equal(Math.max(...steps), 5_000)
  assert.deepEqual(await Promise.all([busy, waiting].map(count)), [0, 1])
  const left = await readRows(ctx.db, 'select id from events where workspace_id = $1', [quiet.id])
  assert.deepEqual(left, [{ id: fresh.id }])

  await readRows(ctx.db, 'delete from deliveries where workspace_id = $1', [waiting.id])
  assert.equal((await cleanUpOnce(old, 'events')) + (await cleanUpOnce(old, 'events')), 1)
})

async function count({ id }: Workspace): Promise<number> {
  return (await readRows(given.context.db, 'select id from events where workspace_id = $1', [id])).length
}
