import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { LEASE_MS } from '../../server/src/domain/webhooks/delivery.ts'
import { openContext } from '../../server/src/service.ts'
import { announce, announceMany, makeWorkspace } from '../support/context/delivery-rows.ts'
import { later } from '../support/context/moved-clock.ts'
import { openConnections, readRows } from '../support/database/read-rows.ts'
import { openSenderFixture, type SenderFixture, type Subscription } from '../support/context/sender-fixture.ts'
import { startStatementGate, type StatementGate } from '../support/database/statement-gate.ts'
import { waitFor } from '../support/wait-for.ts'

const HOUR_MS = 60 * 60 * 1_000
const IN_FLIGHT_MAX = 4
/** How long a receiver takes to respond. */
const WORK_MS = 5

describe('senders', () => {
  let sending: SenderFixture
  let ctx: Context
  let workspace: Workspace
  before(async () => {
    sending = await openSenderFixture()
    ctx = sending.ctx
  })
  beforeEach(async () => {
    workspace = await makeWorkspace(ctx)
  })
  afterEach(() => sending.reset())
  after(() => sending.close())

  const subscribe = (count: number): Promise<Subscription[]> =>
    Promise.all(Array.from({ length: count }, () => sending.subscribe(workspace)))

  test('on one database send each event to each endpoint once, and never the same event twice at once', async () => {
    const subscriptions = await subscribe(5)
    for (const { receiver } of subscriptions) {
      receiver.reply((response) => void setTimeout(() => response.end(), WORK_MS))
    }
    await announceMany(ctx, workspace, { count: 60, from: ctx.clock.now() })
    const another = sending.given.openAnother()
    await openConnections(ctx.db, another.db)
    // The clock of one worker is ahead of the others, but by less than the length of a lease.
    const contexts = [ctx, another, later(another, LEASE_MS / 2)]
    for (const context of contexts) sending.startSender({ ctx: context })
    for (const { receiver, endpoint } of subscriptions) {
      await receiver.arrived(60)
      await allEnded(workspace)
      assertEachOnce(receiver.received, 60)
      assert.equal(receiver.hadTwoOfOne, false)
      assert.ok(receiver.waiting.max <= IN_FLIGHT_MAX, `${receiver.waiting.max} at once`)
      assert.equal((await sending.logs(endpoint)).filter(({ attempts }) => attempts.length === 1).length, 60)
    }
  })

  test('make at most four attempts at once to an endpoint that hangs, over all senders', async () => {
    const [subscription] = await subscribe(1)
    assert.ok(subscription !== undefined)
    const { receiver } = subscription
    const release = receiver.hold()
    await announceMany(ctx, workspace, { count: 30, from: ctx.clock.now() })
    for (const context of [ctx, sending.given.openAnother()]) sending.startSender({ ctx: context })
    await receiver.arrived(IN_FLIGHT_MAX)
    await sending.lookedAround()
    assert.equal(receiver.received.length, IN_FLIGHT_MAX)
    release()
    await receiver.arrived(30)
    await allEnded(workspace)
    assertEachOnce(receiver.received, 30)
  })

  test('delay no other endpoint because of twenty endpoints that hang, each with a queue', async () => {
    const hanging = await subscribe(20)
    const releases = hanging.map(({ receiver }) => receiver.hold())
    await announceMany(ctx, workspace, { count: 20, from: ctx.clock.now() })
    const healthyWorkspace = await makeWorkspace(ctx)
    const healthy = await Promise.all([1, 2, 3].map(() => sending.subscribe(healthyWorkspace)))
    // The events of the healthy endpoints are created a second later, so they are due after all hanging deliveries.
    sending.advance(1_000)
    sending.startSender()
    for (const { receiver } of hanging) await receiver.arrived(IN_FLIGHT_MAX)
    await announceMany(ctx, healthyWorkspace, { count: 50, from: ctx.clock.now() })
    sending.advance(1_000)
    await allEnded(healthyWorkspace)
    for (const { receiver } of healthy) assertEachOnce(receiver.received, 50)
    // Until now, none of the hanging attempts has ended.
    for (const { receiver } of hanging) assert.equal(receiver.waiting.now, IN_FLIGHT_MAX)
    for (const release of releases) release()
    await allEnded(workspace)
    for (const { receiver } of hanging) assertEachOnce(receiver.received, 20)
  })

  test('finish what is in progress when they are stopped, and claim nothing more', async () => {
    const [subscription] = await subscribe(1)
    assert.ok(subscription !== undefined)
    const { receiver, endpoint } = subscription
    const release = receiver.hold()
    await announceMany(ctx, workspace, { count: 10, from: ctx.clock.now() })
    const sender = sending.startSender()
    await receiver.arrived(IN_FLIGHT_MAX)
    let stopped = false
    const stop = sender.stop().then(() => (stopped = true))
    await sending.given.context.db.ping()
    assert.equal(stopped, false)
    release()
    await stop
    assert.equal(receiver.received.length, IN_FLIGHT_MAX)
    const statuses = (await sending.logs(endpoint)).map(({ delivery }) => delivery.status)
    assert.equal(statuses.filter((status) => status === 'succeeded').length, IN_FLIGHT_MAX)
    assert.equal(await countLeased(), 0)
    await waitFor('its connections to be closed', () => receiver.waiting.now === 0)
  })

  test('lose nothing, send nothing twice and leave no lease, at whatever moment they are stopped', async () => {
    const subscriptions = await subscribe(6)
    await announceMany(ctx, workspace, { count: 50, from: ctx.clock.now() })
    const total = (): number => subscriptions.reduce((sum, { receiver }) => sum + receiver.received.length, 0)
    let stops = 0
    while (total() < 300) {
      const sender = sending.startSender()
      const target = Math.min(total() + 1 + 7 * (stops % 5), 300)
      await waitFor('some to arrive', () => total() >= target)
      await sender.stop()
      stops += 1
      assert.equal(await countLeased(), 0)
    }
    assert.ok(stops > 2, `${stops} stops`)
    for (const { receiver } of subscriptions) assertEachOnce(receiver.received, 50)
    await allEnded(workspace)
  })

  test('lose nothing, send nothing twice and end no attempt if the clock is moved far', async () => {
    const [subscription] = await subscribe(1)
    assert.ok(subscription !== undefined)
    const { receiver, endpoint } = subscription
    for (const milliseconds of [HOUR_MS, -HOUR_MS]) {
      const count = receiver.received.length
      const release = receiver.hold()
      sending.startSender()
      const event = await announce(ctx, workspace)
      await receiver.arrived(count + 1)
      sending.advance(milliseconds)
      await sending.lookedAround()
      assert.equal(receiver.received.length, count + 1)
      release()
      const { delivery, attempts } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts > 0)
      assert.deepEqual([delivery.status, attempts.length, receiver.received.length], ['succeeded', 1, count + 1])
      assert.ok(Number(attempts[0]?.durationMs) >= 0)
    }
  })

  describe('that lose their database', () => {
    let gate: StatementGate
    let dying: ReturnType<typeof openContext>
    let subscription: Subscription
    beforeEach(async () => {
      const { config, context, clock } = sending.given
      gate = await startStatementGate(config.database.url)
      const database = { ...config.database, url: gate.url }
      dying = openContext({ ...config, database }, { clock, logger: context.logger })
      subscription = await sending.subscribe(workspace)
    })
    afterEach(async () => {
      await sending.reset()
      await dying.close()
      await gate.close()
    })

    /**
     * Holds back the next matching statement, or the response to it. Returns a function that tells whether it is held
     * back yet.
     */
    function holdNext(marker: string, side: 'request' | 'answer'): () => boolean {
      let isHeld = false
      void gate.hold(marker, side).held.then(() => (isHeld = true))
      return () => isHeld
    }

    test('send an event again after the lease, as the same attempt, if it was sent and not recorded', async () => {
      const { receiver, endpoint } = subscription
      const isHeld = holdNext('finish_delivery', 'request')
      const event = await announce(ctx, workspace)
      sending.startSender({ ctx: dying.context })
      await waitFor('the statement to be held', isHeld)
      // Cuts the connection at this point, as if the process had died.
      gate.cut()
      sending.startSender()
      sending.advance(LEASE_MS / 2)
      await sending.lookedAround()
      assert.equal(receiver.received.length, 1)
      sending.advance(LEASE_MS / 2)
      const { delivery, attempts } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts > 0)
      assert.deepEqual([delivery.status, delivery.attempts], ['succeeded', 1])
      assert.deepEqual(
        attempts.map(({ number }) => number),
        [1],
      )
      assert.deepEqual(
        receiver.received.map(({ eventId, attempt }) => [eventId, attempt]),
        [
          [event.id, 1],
          [event.id, 1],
        ],
      )
      assert.deepEqual(receiver.received[1]?.body, receiver.received[0]?.body)
    })

    test('send a delivery again after the lease if its worker died while it waited for its claim', async () => {
      const { receiver, endpoint } = subscription
      const isHeld = holdNext('lease_deliveries', 'answer')
      const event = await announce(ctx, workspace)
      sending.startSender({ ctx: dying.context })
      await waitFor('the statement to be held', isHeld)
      gate.cut()
      sending.startSender()
      sending.advance(LEASE_MS)
      const { delivery } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts > 0)
      assert.equal(delivery.status, 'succeeded')
      assertEachOnce(receiver.received, 1)
    })

    test('record an outcome when the database is back after a moment, and send nothing twice', async () => {
      const { receiver, endpoint } = subscription
      for (const side of ['request', 'answer'] as const) {
        const count = receiver.received.length
        const isHeld = holdNext('finish_delivery', side)
        const event = await announce(ctx, workspace)
        const sender = sending.startSender({ ctx: dying.context })
        await waitFor('the statement to be held', isHeld)
        gate.cut()
        gate.restore()
        const { delivery } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts > 0)
        assert.equal(delivery.status, 'succeeded')
        await sender.stop()
        assert.equal(await countLeased(), 0)
        assert.equal(receiver.received.length, count + 1)
      }
    })
  })

  async function allEnded({ id }: Workspace): Promise<void> {
    const text = `select 1 from deliveries where workspace_id = $1 and status = 'pending' limit 1`
    await waitFor('all deliveries to end', async () => (await readRows(ctx.db, text, [id])).length === 0)
  }

  async function countLeased(): Promise<number> {
    const text = 'select 1 from deliveries where workspace_id = $1 and leased_until is not null'
    return (await readRows(ctx.db, text, [workspace.id])).length
  }
})

/** Checks that `count` deliveries arrived, each for a different event, and each at the first attempt. */
function assertEachOnce(received: readonly { eventId: string; attempt: number }[], count: number): void {
  assert.equal(received.length, count)
  assert.equal(new Set(received.map(({ eventId }) => eventId)).size, count)
  assert.ok(received.every(({ attempt }) => attempt === 1))
}
