import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  announce,
  claimOne,
  clearQueues,
  countDeliveries,
  finish,
  makeAccount,
  makeEndpoint,
  makeEvent,
  readOnlyDelivery,
} from '../../../../test/support/context/delivery-rows.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Account } from '../accounts/account.ts'
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
  let account: Account
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  beforeEach(async () => {
    account = await makeAccount(ctx)
    await clearQueues(ctx)
  })
  after(() => given.close())

  test('each subscribed endpoint gets one delivery, due at the time of the event', async () => {
    const [first, second] = [await makeEndpoint(ctx, account), await makeEndpoint(ctx, account)]
    const event = await announce(ctx, account)
    for (const { endpoint } of [first, second]) {
      assert.deepEqual(await readOnlyDelivery(ctx, account.id, endpoint.id), {
        accountId: account.id,
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
    await makeEndpoint(ctx, account)
    const event = makeEvent(ctx, account)
    await assert.rejects(
      ctx.db.transaction(async (transaction) => {
        const [, deliveries] = await transaction.batch(appendEvent(event))
        assert.equal(deliveries, 1)
        throw new Error('undone')
      }),
      { message: 'undone' },
    )
    assert.equal(await countDeliveries(ctx, account.id), 0)
    assert.deepEqual(await readRows(ctx.db, 'select id from events where account_id = $1', [account.id]), [])
  })

  test('an event cannot be appended twice, and an endpoint gets no second delivery of it', async () => {
    const { endpoint } = await makeEndpoint(ctx, account)
    const event = await announce(ctx, account)
    const [, insertDeliveries] = appendEvent(event)
    await assert.rejects(ctx.db.write(insertDeliveries), { code: '23505' })
    await readOnlyDelivery(ctx, account.id, endpoint.id)
  })

  test('every event type reaches the endpoints subscribed to it, and no others', async () => {
    for (const type of EVENT_TYPES) await makeEndpoint(ctx, account, { events: [type] })
    for (const type of EVENT_TYPES) await announce(ctx, account, { type })
    const found = await listDeliveries(ctx, {
      accountId: account.id,
      mode: 'test',
      filter: {},
      before: null,
      limit: 100,
    })
    assert.deepEqual(found.map(({ eventType }) => eventType).toSorted(), [...EVENT_TYPES].toSorted())
    assert.equal(new Set(found.map(({ endpointId }) => endpointId)).size, EVENT_TYPES.length)
  })

  test('a test event is not sent to subscribed endpoints', async () => {
    await makeEndpoint(ctx, account)
    await announce(ctx, account, { type: TEST_EVENT_TYPE })
    assert.equal(await countDeliveries(ctx, account.id), 0)
  })

  test('endpoints of the other mode or of another workspace, and disabled or deleted endpoints, get nothing', async () => {
    const other = await makeAccount(ctx)
    await makeEndpoint(ctx, other)
    await makeEndpoint(ctx, account, { mode: 'live' })
    const disabled = await makeEndpoint(ctx, account)
    await changeEndpoint(ctx, {
      accountId: account.id,
      id: disabled.endpoint.id,
      change: { enabled: false },
      actor: OPERATOR,
    })
    const deleted = await makeEndpoint(ctx, account)
    await deleteEndpoint(ctx, { accountId: account.id, id: deleted.endpoint.id, actor: OPERATOR })
    await announce(ctx, account)
    assert.equal(await countDeliveries(ctx, account.id), 0)
    assert.equal(await countDeliveries(ctx, other.id), 0)
    await announce(ctx, account, { mode: 'live' })
    assert.equal(await countDeliveries(ctx, account.id), 1)
  })

  test('an endpoint that is created or subscribed later does not get earlier events', async () => {
    const { endpoint } = await makeEndpoint(ctx, account, { events: ['payment.failed'] })
    await announce(ctx, account)
    await makeEndpoint(ctx, account)
    const change = { events: ['payment.confirmed'] }
    await changeEndpoint(ctx, { accountId: account.id, id: endpoint.id, change, actor: OPERATOR })
    assert.equal(await countDeliveries(ctx, account.id), 0)
  })

  test('an event is delivered to endpoints subscribed when it happened, even if they no longer are', async () => {
    const { endpoint } = await makeEndpoint(ctx, account, { events: ['payment.confirmed'] })
    const event = await announce(ctx, account)
    await changeEndpoint(ctx, {
      accountId: account.id,
      id: endpoint.id,
      change: { events: ['payment.failed'] },
      actor: OPERATOR,
    })
    const claimed = await claimOne(ctx)
    assert.equal(claimed.delivery.eventId, event.id)
    await finish(ctx, claimed, 200)
  })

  test('each of many concurrent events reaches each endpoint once', async () => {
    for (let index = 0; index < 5; index += 1) await makeEndpoint(ctx, account)
    await Promise.all(Array.from({ length: 50 }, () => announce(ctx, account)))
    const rows = await readRows(
      ctx.db,
      'select count(*)::integer as total, count(distinct (event_id, endpoint_id))::integer as pairs from deliveries where account_id = $1',
      [account.id],
    )
    assert.deepEqual(rows, [{ total: 250, pairs: 250 }])
  })
})
