import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  announce,
  announceMany,
  claimOne,
  clearQueues,
  countDeliveries,
  finish,
  makeWorkspace,
  makeEndpoint,
  readDelivery,
  readOnlyDelivery,
} from '../../../../test/support/context/delivery-rows.ts'
import { frozenAt, later } from '../../../../test/support/context/moved-clock.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS } from '../events/event.ts'
import { appendEvent } from './append-event.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { cleanUpWebhooks } from './clean-up-webhooks.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { makeEvent } from '../../../../test/support/context/delivery-rows.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')
const DAY_MS = 24 * 60 * 60 * 1_000

describe('cleaning up webhooks', () => {
  let given: TestContext
  let ctx: Context
  let workspace: Workspace
  let endpoint: WebhookEndpoint
  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
  })
  beforeEach(async () => {
    await clearQueues(ctx)
    workspace = await makeWorkspace(ctx)
    endpoint = (await makeEndpoint(ctx, workspace)).endpoint
  })
  after(() => given.close())

  test('a delivery and its attempts are deleted 30 days after it finished, and the event stays', async () => {
    await announce(ctx, workspace)
    const { id } = await finish(ctx, await claimOne(ctx), 200)
    await cleanUpWebhooks(later(ctx, EVENT_RETENTION_MS - 1))
    assert.equal((await readDelivery(ctx, { workspaceId: workspace.id, id })).status, 'succeeded')
    assert.ok((await cleanUpWebhooks(later(ctx, EVENT_RETENTION_MS))) >= 1)
    assert.equal(await countDeliveries(ctx, workspace.id), 0)
    const left = `select 'attempt' as what from delivery_attempts where workspace_id = $1
      union all select 'event' from events where workspace_id = $1`
    assert.deepEqual(await readRows(ctx.db, left, [workspace.id]), [{ what: 'event' }])
  })

  test('pending deliveries of an enabled endpoint are never cleaned up', async () => {
    await announce(ctx, workspace)
    await cleanUpWebhooks(later(ctx, 3 * EVENT_RETENTION_MS))
    assert.equal((await readOnlyDelivery(ctx, workspace.id, endpoint.id)).status, 'pending')
  })

  test('pending deliveries of a disabled endpoint are kept for 30 days', async () => {
    await announce(ctx, workspace)
    await announce(later(ctx, DAY_MS), workspace)
    await changeEndpoint(ctx, {
      workspaceId: workspace.id,
      id: endpoint.id,
      change: { enabled: false },
      actor: OPERATOR,
    })
    await cleanUpWebhooks(later(ctx, EVENT_RETENTION_MS - 1))
    assert.deepEqual(await listStatuses(), ['pending', 'pending'])
    await cleanUpWebhooks(later(ctx, EVENT_RETENTION_MS))
    assert.deepEqual(await listStatuses(), ['canceled', 'pending'])
  })

  test('deliveries created while an endpoint is being deleted are canceled; the endpoint is removed with its last delivery', async () => {
    const event = makeEvent(ctx, workspace)
    // The new deliveries are not committed yet when the deletion cancels the endpoint's deliveries.
    await ctx.db.transaction(async (transaction) => {
      await transaction.batch(appendEvent(event))
      await deleteEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id, actor: OPERATOR })
    })
    assert.deepEqual(await listStatuses(), ['pending'])
    await cleanUpWebhooks(ctx)
    assert.deepEqual(await listStatuses(), ['canceled'])
    await cleanUpWebhooks(later(ctx, EVENT_RETENTION_MS - 1))
    assert.equal(await countEndpoints(), 1)
    await cleanUpWebhooks(later(ctx, EVENT_RETENTION_MS))
    assert.deepEqual([await countDeliveries(ctx, workspace.id), await countEndpoints()], [0, 0])
  })

  test('large numbers of rows are deleted in bounded rounds', async () => {
    await announceMany(ctx, workspace, { count: 5_200, from: NOW })
    await readRows(
      ctx.db,
      `update deliveries set status = 'failed', next_attempt_at = null, finished_at = created_at where workspace_id = $1`,
      [workspace.id],
    )
    const at = later(ctx, 2 * EVENT_RETENTION_MS)
    while ((await countDeliveries(ctx, workspace.id)) === 5_200) assert.ok((await cleanUpWebhooks(at)) <= 5_000 + 20)
    assert.ok((await countDeliveries(ctx, workspace.id)) >= 200)
    await cleanUpWebhooks(at)
    assert.equal(await countDeliveries(ctx, workspace.id), 0)
    assert.equal(await cleanUpWebhooks(at), 0)
  })

  async function listStatuses(): Promise<unknown[]> {
    const rows = await readRows(ctx.db, 'select status from deliveries where workspace_id = $1 order by id', [
      workspace.id,
    ])
    return rows.map((row) => row['status'])
  }

  async function countEndpoints(): Promise<number> {
    return (await readRows(ctx.db, 'select id from webhook_endpoints where workspace_id = $1', [workspace.id])).length
  }
})
