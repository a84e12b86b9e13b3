import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { createPayment } from '../../server/src/domain/payment-requests/create-payment.ts'
import { appendEvent } from '../../server/src/domain/webhooks/append-event.ts'
import { RETRY_DELAYS_MS } from '../../server/src/domain/webhooks/retry-schedule.ts'
import { getEndpoint, listEndpoints } from '../../server/src/domain/webhooks/queries.ts'
import { rotateSecret } from '../../server/src/domain/webhooks/rotate-secret.ts'
import { announce, announceMany, makeWorkspace, makeEvent } from '../support/context/delivery-rows.ts'
import { expectPayment, expectRefusal } from '../support/context/expect-outcome.ts'
import { readRows } from '../support/database/read-rows.ts'
import { paymentRequest, seed } from '../support/context/seed.ts'
import { deliverOne, openSenderFixture, type SenderFixture } from '../support/context/sender-fixture.ts'

const BURST = 300

describe('an event', () => {
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

  test('that is one of many at once reaches each endpoint once, and receivers can sort by time and id', async () => {
    const subscriptions = await Promise.all([1, 2, 3].map(() => sending.subscribe(workspace)))
    const from = ctx.clock.now()
    await announceMany(ctx, workspace, { count: BURST, from })
    sending.advance(BURST)
    sending.startSender()
    const ids = await readRows(ctx.db, 'select id from events where workspace_id = $1 order by created_at', [
      workspace.id,
    ])
    for (const { receiver } of subscriptions) {
      await receiver.arrived(BURST)
      const events = receiver.received.map(({ body }) => JSON.parse(String(body)) as { id: string; created_at: string })
      assert.deepEqual(
        events.toSorted((left, right) => (left.created_at < right.created_at ? -1 : 1)).map(({ id }) => id),
        ids.map((row) => row['id']),
      )
      assert.deepEqual(
        events.map(({ id }) => id).toSorted(),
        ids.map((row) => row['id']),
      )
    }
    await sending.lookedAround()
    for (const { receiver } of subscriptions) assert.equal(receiver.received.length, BURST)
  })

  test('is sent once its transaction is committed, and never if it is rolled back', async () => {
    const { receiver } = await sending.subscribe(workspace)
    sending.startSender()
    const undone = makeEvent(ctx, workspace)
    await assert.rejects(
      ctx.db.transaction(async (transaction) => {
        await transaction.batch([...appendEvent(undone)])
        throw new Error('undone')
      }),
      { message: 'undone' },
    )
    const open = Promise.withResolvers<void>()
    const kept = makeEvent(ctx, workspace)
    const commit = ctx.db.transaction(async (transaction) => {
      await transaction.batch([...appendEvent(kept)])
      await open.promise
    })
    // No sender can read the event before the transaction commits.
    await sending.lookedAround()
    assert.equal(receiver.received.length, 0)
    open.resolve()
    await commit
    await receiver.arrived(1)
    await sending.lookedAround()
    assert.deepEqual(
      receiver.received.map(({ eventId }) => eventId),
      [kept.id],
    )
  })

  test('about a payment is sent once, with the payment; a rejected payment has no event', async () => {
    const seeded = await seed(ctx)
    const { receiver } = await sending.subscribe(seeded.workspace)
    sending.startSender()
    expectRefusal(await createPayment(ctx, paymentRequest(seeded, { amountUsdc: '11' })), 'amount_too_large')
    const request = paymentRequest(seeded, { amountUsdc: '1.5', memo: 'é✓' })
    const payment = expectPayment(await createPayment(ctx, request))
    await receiver.arrived(1)
    await sending.lookedAround()
    const bodies = receiver.received.map(({ body }) => JSON.parse(String(body)) as Record<string, unknown>)
    assert.equal(bodies.length, 1)
    const [{ type, data, mode, account_slug: slug } = {}] = bodies
    assert.deepEqual({ type, mode, slug }, { type: 'payment.created', mode: 'test', slug: seeded.workspace.slug })
    const sent = (data as { payment: Record<string, unknown> }).payment
    assert.deepEqual([sent['id'], sent['amount_usdc'], sent['memo']], [payment.id, '1.5', 'é✓'])
  })

  test('keeps its id through every attempt and replay, so that receivers recognize it', async () => {
    const { receiver, endpoint } = await sending.subscribe(workspace, { reply: 500 })
    sending.startSender()
    const event = await announce(ctx, workspace)
    for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
      await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === index + 1)
      sending.advance(delayMs)
    }
    await receiver.arrived(6)
    for (const { eventId, body } of receiver.received) {
      assert.equal(eventId, event.id)
      assert.equal((JSON.parse(String(body)) as { id: string }).id, event.id)
    }
  })

  test('is signed with a secret that no log, row, error or response contains', async () => {
    const lines: string[] = []
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const subscription = await sending.subscribe(workspace, { reply: 500 })
    const { secret: newSecret } = await rotateSecret(ctx, {
      workspaceId: workspace.id,
      id: subscription.endpoint.id,
      actor: OPERATOR,
    })
    // The receiver's response repeats everything that the request contained.
    subscription.receiver.reply((response, { rawHeaders, body }) =>
      response.writeHead(500).end(rawHeaders.join() + body),
    )
    sending.startSender({ ctx: { ...ctx, logger } })
    await deliverOne(sending, workspace, subscription)
    const broken = await sending.subscribe(workspace)
    const text = `update webhook_endpoints set secret_sealed = '\\x00' where workspace_id = $1 and id = $2 returning id`
    assert.equal((await readRows(ctx.db, text, [workspace.id, broken.endpoint.id])).length, 1)
    await deliverOne(sending, workspace, subscription)
    assert.ok(lines.some((line) => line.includes(broken.endpoint.id)))
    const shown = [
      ...lines,
      JSON.stringify(await listEndpoints(ctx, { workspaceId: workspace.id, mode: 'test' })),
      JSON.stringify(await getEndpoint(ctx, { workspaceId: workspace.id, id: subscription.endpoint.id })),
    ]
    for (const table of ['webhook_endpoints', 'deliveries', 'delivery_attempts', 'events', 'audit_entries']) {
      const rows = await readRows(
        ctx.db,
        `select t::text as row, encode(coalesce(b, ''), 'escape') as bytes
        from ${table} t left join lateral (select ${table === 'delivery_attempts' ? 't.response_body' : "''::bytea"} as b) on true`,
      )
      shown.push(...rows.flatMap((row) => [String(row['row']), String(row['bytes'])]))
    }
    for (const secret of [subscription.secret, newSecret, broken.secret]) {
      assert.match(secret, /^whsec_/)
      for (const text of shown) assert.ok(!text.includes(secret.slice('whsec_'.length)))
    }
  })
})
