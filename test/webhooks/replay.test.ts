import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { EVENT_RETENTION_MS } from '../../server/src/domain/events/event.ts'
import { changeEndpoint } from '../../server/src/domain/webhooks/change-endpoint.ts'
import type { Delivery } from '../../server/src/domain/webhooks/delivery.ts'
import { RETRY_DELAYS_MS } from '../../server/src/domain/webhooks/retry-schedule.ts'
import { getDelivery } from '../../server/src/domain/webhooks/queries.ts'
import { replayDelivery } from '../../server/src/domain/webhooks/replay-delivery.ts'
import { replayRange } from '../../server/src/domain/webhooks/replay-range.ts'
import { sendTestEvent } from '../../server/src/domain/webhooks/send-test-event.ts'
import { announce, makeWorkspace } from '../support/context/delivery-rows.ts'
import {
  deliverOne,
  openSenderFixture,
  type Log,
  type SenderFixture,
  type Subscription,
} from '../support/context/sender-fixture.ts'
import { waitFor } from '../support/wait-for.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

describe('a replay', () => {
  let sending: SenderFixture
  let ctx: Context
  let workspace: Workspace
  let subscription: Subscription
  before(async () => {
    sending = await openSenderFixture()
    ctx = sending.ctx
  })
  beforeEach(async () => {
    workspace = await makeWorkspace(ctx)
    subscription = await sending.subscribe(workspace)
    sending.startSender()
  })
  afterEach(() => sending.reset())
  after(() => sending.close())

  const replay = ({ id }: Delivery): Promise<Delivery> =>
    replayDelivery(ctx, { workspaceId: workspace.id, deliveryId: id, actor: OPERATOR })

  const ended = ({ id }: Delivery): Promise<Log> =>
    waitFor('the delivery to end', async () => {
      const log = await getDelivery(ctx, { workspaceId: workspace.id, id })
      return log.delivery.finishedAt !== null && log
    })

  test('of a delivered event is a new delivery with the same id and bytes, and a new signature', async () => {
    const { receiver } = subscription
    const { delivery } = await deliverOne(sending, workspace, subscription)
    sending.advance(DAY_MS)
    const again = await replay(delivery)
    const log = await ended(again)
    assert.deepEqual([log.delivery.status, log.delivery.trigger, log.attempts.length], ['succeeded', 'replay', 1])
    assert.notEqual(again.id, delivery.id)
    const [first, second] = receiver.received
    assert.deepEqual(second?.body, first?.body)
    assert.equal(second?.eventId, first?.eventId)
    assert.equal(second?.attempt, 1)
    assert.notEqual(second?.headers['service-signature'], first?.headers['service-signature'])
  })

  test('of a failed event delivers it; a replay that fails is not retried', async () => {
    const { receiver, endpoint } = subscription
    receiver.reply(500)
    const event = await announce(ctx, workspace)
    for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
      await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === index + 1)
      sending.advance(delayMs)
    }
    const { delivery } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.status === 'failed')
    const failed = await ended(await replay(delivery))
    assert.deepEqual([failed.delivery.status, failed.delivery.attempts], ['failed', 1])
    sending.advance(DAY_MS)
    await sending.lookedAround()
    assert.equal(receiver.received.length, 7)
    receiver.reply(200)
    assert.equal((await ended(await replay(delivery))).delivery.status, 'succeeded')
    // The replay is a new delivery, so the first one keeps its final status.
    assert.equal((await ended(delivery)).delivery.status, 'failed')
  })

  test('of an event that will be retried neither ends nor moves its schedule', async () => {
    const { receiver, endpoint } = subscription
    receiver.reply(500)
    const { delivery } = await deliverOne(sending, workspace, subscription)
    receiver.reply(200)
    sending.advance(MINUTE_MS / 2)
    assert.equal((await ended(await replay(delivery))).delivery.status, 'succeeded')
    const { delivery: waiting } = await getDelivery(ctx, { workspaceId: workspace.id, id: delivery.id })
    assert.deepEqual(waiting, delivery)
    sending.advance(MINUTE_MS / 2)
    const log = await ended(delivery)
    assert.deepEqual([log.delivery.status, log.delivery.attempts], ['succeeded', 2])
    assert.deepEqual(
      receiver.received.map(({ attempt }) => attempt),
      [1, 1, 2],
    )
    assert.equal((await sending.logs(endpoint)).length, 2)
  })

  test("that is requested twice makes two deliveries; the event's id shows receivers that they are the same", async () => {
    const { delivery } = await deliverOne(sending, workspace, subscription)
    const [left, right] = await Promise.all([replay(delivery), replay(delivery)])
    await Promise.all([ended(left), ended(right)])
    const { received } = subscription.receiver
    assert.equal(received.length, 3)
    assert.equal(new Set(received.map(({ eventId }) => eventId)).size, 1)
  })

  test('is not possible to a disabled endpoint, or for an event that is not stored any more', async () => {
    const { delivery } = await deliverOne(sending, workspace, subscription)
    const subject = { workspaceId: workspace.id, id: subscription.endpoint.id }
    await changeEndpoint(ctx, { ...subject, change: { enabled: false }, actor: OPERATOR })
    await assert.rejects(replay(delivery), { code: 'endpoint_disabled', status: 409 })
    await changeEndpoint(ctx, { ...subject, change: { enabled: true }, actor: OPERATOR })
    sending.advance(EVENT_RETENTION_MS)
    await assert.rejects(replay(delivery), { code: 'event_not_found', status: 404 })
    assert.equal(subscription.receiver.received.length, 1)
  })

  test('of a range of time delivers each of its events once more, and no others', async () => {
    const { receiver, endpoint } = subscription
    const events: string[] = []
    for (let count = 0; count < 4; count += 1) {
      events.push((await deliverOne(sending, workspace, subscription)).event.id)
      sending.advance(MINUTE_MS)
    }
    const [, from, , to] = await Promise.all(events.map((id) => eventTime(endpoint, id)))
    assert.ok(from !== undefined && to !== undefined)
    const range = { workspaceId: workspace.id, endpointId: endpoint.id, from, to }
    assert.equal(await replayRange(ctx, { ...range, only: 'all', actor: OPERATOR }), 2)
    await receiver.arrived(6)
    assert.deepEqual(
      receiver.received
        .slice(4)
        .map(({ eventId }) => eventId)
        .toSorted(),
      events.slice(1, 3),
    )
    await waitFor('their outcomes to be written', async () =>
      (await sending.logs(endpoint)).every(({ delivery }) => delivery.status === 'succeeded'),
    )
    assert.equal(await replayRange(ctx, { ...range, only: 'failed', actor: OPERATOR }), 0)
  })

  test("does not depend on the endpoint's current subscription, which is used for later events only", async () => {
    const { receiver, endpoint } = subscription
    const subject = { workspaceId: workspace.id, id: endpoint.id }
    await changeEndpoint(ctx, { ...subject, change: { events: ['payment.failed'] }, actor: OPERATOR })
    await announce(ctx, workspace, { type: 'payment.confirmed' })
    receiver.reply(500)
    const failed = await announce(ctx, workspace, { type: 'payment.failed' })
    await sending.logWhen(endpoint, failed, ({ delivery }) => delivery.attempts === 1)
    await changeEndpoint(ctx, { ...subject, change: { events: ['payment.confirmed'] }, actor: OPERATOR })
    receiver.reply(200)
    sending.advance(MINUTE_MS)
    // The endpoint receives exactly the events to which it was subscribed when they happened.
    await sending.logWhen(endpoint, failed, ({ delivery }) => delivery.status === 'succeeded')
    await sending.lookedAround()
    assert.deepEqual(
      receiver.received.map(({ eventId }) => eventId),
      [failed.id, failed.id],
    )
  })

  test('is not possible for a caller of another workspace, who can also send no test event', async () => {
    const stranger = await makeWorkspace(ctx)
    const { delivery } = await deliverOne(sending, workspace, subscription)
    const { id } = subscription.endpoint
    const theirs = { workspaceId: stranger.id }
    await assert.rejects(replayDelivery(ctx, { ...theirs, deliveryId: delivery.id, actor: OPERATOR }), {
      code: 'delivery_not_found',
    })
    await assert.rejects(getDelivery(ctx, { ...theirs, id: delivery.id }), { code: 'delivery_not_found' })
    await assert.rejects(sendTestEvent(ctx, { ...theirs, id, actor: OPERATOR }), { code: 'webhook_not_found' })
    const range = { endpointId: id, from: new Date(0), to: ctx.clock.now(), only: 'all' } as const
    await assert.rejects(replayRange(ctx, { ...theirs, ...range, actor: OPERATOR }), { code: 'webhook_not_found' })
    await sending.lookedAround()
    assert.equal(subscription.receiver.received.length, 1)
  })

  test('is separate for each mode: events and test events reach only endpoints of their own mode', async () => {
    const live = await sending.subscribe(workspace, { mode: 'live' })
    const inTest = await announce(ctx, workspace, { mode: 'test' })
    const inLive = await announce(ctx, workspace, { mode: 'live' })
    const tests = [subscription, live].map(({ endpoint }) =>
      sendTestEvent(ctx, { workspaceId: workspace.id, id: endpoint.id, actor: OPERATOR }),
    )
    const [testInTest, testInLive] = await Promise.all(tests)
    for (const [{ receiver }, mode, expected] of [
      [subscription, 'test', [inTest.id, testInTest?.eventId]],
      [live, 'live', [inLive.id, testInLive?.eventId]],
    ] as const) {
      await receiver.arrived(2)
      assert.deepEqual(new Set(receiver.received.map(({ eventId }) => eventId)), new Set(expected))
      for (const { body } of receiver.received) assert.equal((JSON.parse(String(body)) as { mode: string }).mode, mode)
    }
    await sending.lookedAround()
    assert.equal(live.receiver.received.length + subscription.receiver.received.length, 4)
  })

  async function eventTime(endpoint: Subscription['endpoint'], eventId: string): Promise<Date> {
    const logs = await sending.logs(endpoint)
    const found = logs.find(({ delivery }) => delivery.eventId === eventId)
    assert.ok(found !== undefined)
    return found.delivery.createdAt
  }
})
