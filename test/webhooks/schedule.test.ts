import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { changeEndpoint } from '../../server/src/domain/webhooks/change-endpoint.ts'
import { deleteEndpoint } from '../../server/src/domain/webhooks/delete-endpoint.ts'
import { RETRY_DELAYS_MS } from '../../server/src/domain/webhooks/retry-schedule.ts'
import { getEndpoint } from '../../server/src/domain/webhooks/queries.ts'
import { readAudit } from '../support/context/audit.ts'
import { announce, countDeliveries, makeWorkspace } from '../support/context/delivery-rows.ts'
import {
  deliverOne,
  endOf,
  openSenderFixture,
  type SenderFixture,
  type Subscription,
} from '../support/context/sender-fixture.ts'
import { waitFor } from '../support/wait-for.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

describe('the schedule of a delivery', () => {
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

  test('has six attempts, with 1 minute, 5 minutes, 15 minutes, 1 hour and 6 hours between them', async () => {
    const { receiver, endpoint } = subscription
    receiver.reply(500)
    const event = await announce(ctx, workspace)
    for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
      const made = index + 1
      const { delivery, attempts } = await sending.logWhen(
        endpoint,
        event,
        ({ delivery }) => delivery.attempts === made,
      )
      assert.deepEqual([delivery.status, delivery.attempts], ['pending', made])
      assert.equal(Number(delivery.nextAttemptAt), endOf(attempts.at(-1)) + delayMs)
      // Twenty seconds before the retry is due, the sender searches for due deliveries, and does not send the retry.
      sending.advance(delayMs - 20 * SECOND_MS)
      await sending.lookedAround()
      assert.equal(receiver.received.length, made)
      sending.advance(20 * SECOND_MS)
    }
    const last = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === 6)
    assert.deepEqual([last.delivery.status, last.delivery.nextAttemptAt], ['failed', null])
    assert.equal(Number(last.delivery.finishedAt), endOf(last.attempts[5]))
    assert.deepEqual(
      last.attempts.map(({ number, statusCode, error }) => [number, statusCode, error]),
      [1, 2, 3, 4, 5, 6].map((number) => [number, 500, 'http_error']),
    )
    sending.advance(DAY_MS)
    await sending.lookedAround()
    assert.equal(receiver.received.length, 6)
  })

  test('ends with a success', async () => {
    const { receiver, endpoint } = subscription
    receiver.reply(500)
    const event = await announce(ctx, workspace)
    await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === 1)
    receiver.reply(200)
    sending.advance(MINUTE_MS)
    const { delivery, attempts } = await sending.logWhen(
      endpoint,
      event,
      ({ delivery }) => delivery.finishedAt !== null,
    )
    assert.deepEqual([delivery.status, delivery.attempts, attempts.length], ['succeeded', 2, 2])
    sending.advance(DAY_MS)
    await sending.lookedAround()
    assert.equal(receiver.received.length, 2)
  })

  test('is not changed by Retry-After', async () => {
    for (const [status, after] of [
      [429, '3600'],
      [503, '0'],
      [503, new Date(Date.now() + HOUR_MS).toUTCString()],
    ] as const) {
      subscription.receiver.reply((response) => response.writeHead(status, { 'retry-after': after }).end())
      const { delivery, attempts } = await deliverOne(sending, workspace, subscription)
      assert.deepEqual([attempts[0]?.statusCode, attempts[0]?.error], [status, 'http_error'])
      assert.equal(Number(delivery.nextAttemptAt), endOf(attempts[0]) + MINUTE_MS)
    }
  })

  test('stops after a 410, which disables the endpoint at once', async () => {
    const { receiver, endpoint } = subscription
    receiver.reply(500)
    const waiting = await announce(ctx, workspace)
    await sending.logWhen(endpoint, waiting, ({ delivery }) => delivery.attempts === 1)
    receiver.reply(410)
    const { delivery } = await deliverOne(sending, workspace, subscription)
    assert.deepEqual([delivery.status, delivery.attempts], ['pending', 1])
    const { disabledBecause } = await getEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id })
    assert.equal(disabledBecause, 'gone')
    sending.advance(DAY_MS)
    await sending.lookedAround()
    assert.equal(receiver.received.length, 2)
    assert.deepEqual(await disablingsOf(workspace), [{ mode: 'test', because: 'gone' }])
  })

  test('stops while the endpoint is disabled, without new deliveries, and then continues', async () => {
    const { receiver, endpoint } = subscription
    const subject = { workspaceId: workspace.id, id: endpoint.id }
    receiver.reply(500)
    const event = await announce(ctx, workspace)
    await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === 1)
    await changeEndpoint(ctx, { ...subject, change: { enabled: false }, actor: OPERATOR })
    await announce(ctx, workspace)
    sending.advance(HOUR_MS)
    await sending.lookedAround()
    assert.equal(receiver.received.length, 1)
    assert.equal(await countDeliveries(ctx, workspace.id), 1)
    receiver.reply(200)
    await changeEndpoint(ctx, { ...subject, change: { enabled: true }, actor: OPERATOR })
    const { attempts } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.status === 'succeeded')
    assert.equal(attempts.length, 2)
    assert.deepEqual(
      receiver.received.map(({ eventId, attempt }) => [eventId, attempt]),
      [
        [event.id, 1],
        [event.id, 2],
      ],
    )
  })

  test('is canceled when the endpoint is deleted', async () => {
    const { receiver, endpoint } = subscription
    receiver.reply(500)
    const event = await announce(ctx, workspace)
    await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === 1)
    await deleteEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id, actor: OPERATOR })
    await sending.logWhen(endpoint, event, ({ delivery }) => delivery.status === 'canceled')
    sending.advance(DAY_MS)
    await sending.lookedAround()
    assert.equal(receiver.received.length, 1)
  })

  test('still records an attempt that was in progress when the endpoint was disabled', async () => {
    const { receiver, endpoint } = subscription
    const release = receiver.hold()
    const event = await announce(ctx, workspace)
    await receiver.arrived(1)
    await changeEndpoint(ctx, {
      workspaceId: workspace.id,
      id: endpoint.id,
      change: { enabled: false },
      actor: OPERATOR,
    })
    release(200)
    const { delivery } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === 1)
    assert.equal(delivery.status, 'succeeded')
  })

  test('five days with failures only disable an endpoint, and the audit log says so', async () => {
    const { receiver, endpoint } = subscription
    const subject = { workspaceId: workspace.id, id: endpoint.id }
    receiver.reply(500)
    const first = await deliverOne(sending, workspace, subscription)
    for (let day = 1; day < 5; day += 1) {
      sending.advance(DAY_MS)
      await deliverOne(sending, workspace, subscription)
      const { disabledAt, failingSince } = await getEndpoint(ctx, subject)
      assert.equal(disabledAt, null, `on day ${day}`)
      assert.equal(Number(failingSince), endOf(first.attempts[0]))
    }
    // The remaining attempts of the last delivery fail too.
    sending.advance(DAY_MS)
    const { disabledBecause } = await waitFor('the endpoint to be disabled', async () => {
      const found = await getEndpoint(ctx, subject)
      return found.disabledAt !== null && found
    })
    assert.equal(disabledBecause, 'failing')
    assert.deepEqual(await disablingsOf(workspace), [{ mode: 'test', because: 'failing' }])
  })

  test('after one success among the failures, the five days begin again', async () => {
    const { receiver, endpoint } = subscription
    const subject = { workspaceId: workspace.id, id: endpoint.id }
    for (let day = 0; day < 12; day += 3) {
      receiver.reply(500)
      const { event } = await deliverOne(sending, workspace, subscription)
      assert.notEqual((await getEndpoint(ctx, subject)).failingSince, null)
      receiver.reply(204)
      sending.advance(3 * DAY_MS)
      await sending.logWhen(endpoint, event, ({ delivery }) => delivery.status === 'succeeded')
      assert.equal((await getEndpoint(ctx, subject)).failingSince, null)
    }
    assert.equal((await getEndpoint(ctx, subject)).disabledAt, null)
    assert.deepEqual(await disablingsOf(workspace), [])
  })

  async function disablingsOf({ id }: Workspace): Promise<unknown[]> {
    const rows = await readAudit(ctx.db, id)
    return rows.filter((row) => row['action'] === 'webhook.disabled').map((row) => row['details'])
  }
})
