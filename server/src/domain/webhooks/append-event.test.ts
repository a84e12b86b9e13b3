import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  announce,
  claimOne,
  clearQueues,
  countDeliveries,
  finish,
  makeWorkspace,
  makeEndpoint,
  makeEvent,
  readOnlyDelivery,
} from '../../../../test/support/context/delivery-rows.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../events/event.ts'
import { appendEvent } from './append-event.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import { listDeliveries } from './list-deliveries.ts'

describe('appendEvent', () => {
  let given: TestContext
  let ctx: Context
  let workspace: Workspace
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  beforeEach(async () => {
    workspace = await makeWorkspace(ctx)
    await clearQueues(ctx)
  })
  after(() => given.close())

  test('each subscribed endpoint gets one delivery, due at the time of the event', async () => {
    const [first, second] = [await makeEndpoint(ctx, workspace), await makeEndpoint(ctx, workspace)]
    const event = await announce(ctx, workspace)
    for (const { endpoint } of [first, second]) {
      assert.deepEqual(await readOnlyDelivery(ctx, workspace.id, endpoint.id), {
        workspaceId: workspace.id,
        id: `dlv_${event.id.slice(4)}_${endpoint.id.slice(4)}`,
        mode: 'test',
        endpointId: endpoint.id,
        eventId: event.id,
        eventType: 'payment.confirmed',
        trigger: 'event',
        status: 'pending',
        attempts: 0,
        nextAttemptAt: event.createdAt,
        createdAt: event.createdAt,
        finishedAt: null,
      })
    }
  })

  test('a rolled back transaction leaves neither the event nor a delivery', async () => {
    await makeEndpoint(ctx, workspace)
    const event = makeEvent(ctx, workspace)
    await assert.rejects(
      ctx.db.transaction(async (transaction) => {
        const [, deliveries] = await transaction.batch(appendEvent(event))
        assert.equal(deliveries, 1)
        throw new Error('undone')
      }),
      { message: 'undone' },
    )
    assert.equal(await countDeliveries(ctx, workspace.id), 0)
    assert.deepEqual(await readRows(ctx.db, 'select id from events where workspace_id = $1', [workspace.id]), [])
  })

  test('an event cannot be appended twice, and an endpoint gets no second delivery of it', async () => {
    const { endpoint } = await makeEndpoint(ctx, workspace)
    const event = await announce(ctx, workspace)
    const [, insertDeliveries] = appendEvent(event)
    await assert.rejects(ctx.db.write(insertDeliveries), { code: '23505' })
    await readOnlyDelivery(ctx, workspace.id, endpoint.id)
  })

  test('every event type reaches the endpoints subscribed to it, and no others', async () => {
    for (const type of EVENT_TYPES) await makeEndpoint(ctx, workspace, { events: [type] })
    for (const type of EVENT_TYPES) await announce(ctx, workspace, { type })
    const found = await listDeliveries(ctx, {
      workspaceId: workspace.id,
      mode: 'test',
      filter: {},
      before: null,
      limit: 100,
    })
    assert.deepEqual(found.map(({ eventType }) => eventType).toSorted(), [...EVENT_TYPES].toSorted())
    assert.equal(new Set(found.map(({ endpointId }) => endpointId)).size, EVENT_TYPES.length)
  })

  test('a test event is not sent to subscribed endpoints', async () => {
    await makeEndpoint(ctx, workspace)
    await announce(ctx, workspace, { type: TEST_EVENT_TYPE })
    assert.equal(await countDeliveries(ctx, workspace.id), 0)
  })

  test('endpoints of the other mode or of another workspace, and disabled or deleted endpoints, get nothing', async () => {
    const other = await makeWorkspace(ctx)
    await makeEndpoint(ctx, other)
    await makeEndpoint(ctx, workspace, { mode: 'live' })
    const disabled = await makeEndpoint(ctx, workspace)
    await changeEndpoint(ctx, {
      workspaceId: workspace.id,
      id: disabled.endpoint.id,
      change: { enabled: false },
      actor: OPERATOR,
    })
    const deleted = await makeEndpoint(ctx, workspace)
    await deleteEndpoint(ctx, { workspaceId: workspace.id, id: deleted.endpoint.id, actor: OPERATOR })
    await announce(ctx, workspace)
    assert.equal(await countDeliveries(ctx, workspace.id), 0)
    assert.equal(await countDeliveries(ctx, other.id), 0)
    await announce(ctx, workspace, { mode: 'live' })
    assert.equal(await countDeliveries(ctx, workspace.id), 1)
  })

  test('an endpoint that is created or subscribed later does not get earlier events', async () => {
    const { endpoint } = await makeEndpoint(ctx, workspace, { events: ['payment.failed'] })
    await announce(ctx, workspace)
    await makeEndpoint(ctx, workspace)
    const change = { events: ['payment.confirmed'] }
    await changeEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id, change, actor: OPERATOR })
    assert.equal(await countDeliveries(ctx, workspace.id), 0)
  })

  test('an event is delivered to endpoints subscribed when it happened, even if they no longer are', async () => {
    const { endpoint } = await makeEndpoint(ctx, workspace, { events: ['payment.confirmed'] })
    const event = await announce(ctx, workspace)
    await changeEndpoint(ctx, {
      workspaceId: workspace.id,
      id: endpoint.id,
      change: { events: ['payment.failed'] },
      actor: OPERATOR,
    })
    const claimed = await claimOne(ctx)
    assert.equal(claimed.delivery.eventId, event.id)
    await finish(ctx, claimed, 200)
  })

  test('each of many concurrent events reaches each endpoint once', async () => {
    for (let index = 0; index < 5; index += 1) await makeEndpoint(ctx, workspace)
    await Promise.all(Array.from({ length: 50 }, () => announce(ctx, workspace)))
    const rows = await readRows(
      ctx.db,
      'select count(*)::integer as total, count(distinct (event_id, endpoint_id))::integer as pairs from deliveries where workspace_id = $1',
      [workspace.id],
    )
    assert.deepEqual(rows, [{ total: 250, pairs: 250 }])
  })
})
