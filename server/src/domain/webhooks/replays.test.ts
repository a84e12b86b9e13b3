import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import {
  announce,
  announceMany,
  claim,
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
import { createId } from '../../values/ids.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS } from '../events/event.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import type { ClaimedDelivery, Delivery } from './delivery.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { replayDelivery } from './replay-delivery.ts'
import { REPLAYS_MAX } from './delivery.ts'
import { replayRange } from './replay-range.ts'
import { sendTestEvent } from './send-test-event.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')
const HOUR_MS = 60 * 60 * 1_000
const ADA = { kind: 'user', id: 'usr_ada' } as const

describe('replays', () => {
  let given: TestContext
  let real: Context
  /** The context `real` with a clock that does not advance. */
  let ctx: Context
  let workspace: Workspace
  let endpoint: WebhookEndpoint
  before(async () => {
    given = await openTestContext()
    real = given.context
    ctx = frozenAt(real, NOW)
  })
  beforeEach(async () => {
    await clearQueues(real)
    workspace = await makeWorkspace(real)
    endpoint = (await makeEndpoint(ctx, workspace)).endpoint
  })
  after(() => given.close())

  test('a successful delivery can be replayed: a new delivery of the same event, with the same body', async () => {
    const event = await announce(ctx, workspace)
    const first = await claimOne(ctx)
    const delivered = await finish(ctx, first, 200)
    const replay = await sendAgain(later(ctx, HOUR_MS), delivered)
    assert.deepEqual(replay, {
      ...delivered,
      id: replay.id,
      eventId: event.id,
      trigger: 'replay',
      status: 'pending',
      attempts: 0,
      nextAttemptAt: replay.createdAt,
      createdAt: new Date(NOW.getTime() + HOUR_MS),
      finishedAt: null,
    })
    const claimed = await claimOne(later(ctx, HOUR_MS))
    assert.deepEqual([claimed.delivery.id, claimed.body, claimed.attemptNumber], [replay.id, first.body, 1])
    assert.equal((await finish(ctx, claimed, 200)).status, 'succeeded')
    assert.deepEqual(await readDelivery(ctx, delivered), delivered)
  })

  test('a delivery that failed permanently can be replayed; a replay is tried once', async () => {
    const failed = await failForGood()
    const replay = await sendAgain(later(ctx, 9 * HOUR_MS), failed)
    const at = later(ctx, 9 * HOUR_MS)
    assert.equal((await finish(at, await claimOne(at), 500)).status, 'failed')
    assert.equal((await readDelivery(ctx, replay)).attempts, 1)
    assert.deepEqual(await claim(later(ctx, 99 * HOUR_MS)), [])
    assert.deepEqual(await readDelivery(ctx, failed), failed)
  })

  test('a replay of a pending delivery does not change the schedule of that delivery', async () => {
    await announce(ctx, workspace)
    const scheduled = await finish(ctx, await claimOne(ctx), 500)
    await sendAgain(ctx, scheduled)
    assert.equal((await finish(ctx, await claimOne(ctx), 200)).status, 'succeeded')
    assert.deepEqual(await readDelivery(ctx, scheduled), scheduled)
    const second = await claimOne(later(ctx, HOUR_MS))
    assert.deepEqual([second.delivery.id, second.attemptNumber], [scheduled.id, 2])
  })

  test('two replays are two deliveries, and a replay can be replayed', async () => {
    await announce(ctx, workspace)
    const delivered = await finish(ctx, await claimOne(ctx), 200)
    const replays = await Promise.all([sendAgain(ctx, delivered), sendAgain(ctx, delivered)])
    assert.notEqual(replays[0].id, replays[1].id)
    const third = await sendAgain(ctx, replays[0])
    assert.equal(third.eventId, delivered.eventId)
    assert.equal((await claim(ctx)).length, 3)
  })

  test('nothing is replayed to a disabled endpoint, nor to a deleted one', async () => {
    await announce(ctx, workspace)
    const delivered = await finish(ctx, await claimOne(ctx), 200)
    await changeEndpoint(ctx, { ...subject(), change: { enabled: false }, actor: OPERATOR })
    const disabled = { status: 409, code: 'endpoint_disabled' }
    await assert.rejects(sendAgain(ctx, delivered), disabled)
    await assert.rejects(range({}), disabled)
    await assert.rejects(sendTestEvent(ctx, { ...subject(), actor: OPERATOR }), disabled)
    await deleteEndpoint(ctx, { ...subject(), actor: OPERATOR })
    const gone = { status: 404, code: 'webhook_not_found' }
    await assert.rejects(sendAgain(ctx, delivered), gone)
    await assert.rejects(range({}), gone)
    assert.equal(await countDeliveries(ctx, workspace.id), 1)
  })

  test('an event can be replayed for 30 days', async () => {
    await announce(ctx, workspace)
    const delivered = await finish(ctx, await claimOne(ctx), 200)
    await sendAgain(later(ctx, EVENT_RETENTION_MS), delivered)
    await endReplays()
    const gone = { status: 404, code: 'event_not_found' }
    await assert.rejects(sendAgain(later(ctx, EVENT_RETENTION_MS + 1), delivered), gone)
    const all = { only: 'all', from: new Date(0) } as const
    assert.equal(await range(all, later(ctx, EVENT_RETENTION_MS)), 1)
    await endReplays()
    assert.equal(await range(all, later(ctx, EVENT_RETENTION_MS + 1)), 0)
  })

  test("another workspace's deliveries are not found, nor are unknown ones", async () => {
    await announce(ctx, workspace)
    const delivered = await finish(ctx, await claimOne(ctx), 200)
    const other = await makeWorkspace(real)
    const missing = { status: 404, code: 'delivery_not_found' }
    await assert.rejects(
      replayDelivery(ctx, { workspaceId: other.id, deliveryId: delivered.id, actor: OPERATOR }),
      missing,
    )
    for (const deliveryId of [createId('delivery', NOW), '', 'dlv_', delivered.eventId]) {
      await assert.rejects(replayDelivery(ctx, { workspaceId: workspace.id, deliveryId, actor: OPERATOR }), missing)
    }
    const request = { workspaceId: other.id, endpointId: endpoint.id, from: NOW, to: NOW, only: 'all' } as const
    await assert.rejects(replayRange(ctx, { ...request, actor: OPERATOR }), { status: 404, code: 'webhook_not_found' })
    assert.equal(await countDeliveries(ctx, other.id), 0)
  })

  test('a range of failed deliveries leaves out all others, and those whose event a replay has delivered since', async () => {
    const other = await makeEndpoint(ctx, workspace)
    await announceMany(ctx, workspace, { count: 6, from: NOW })
    const [delivered, replayed, replaying, missed, failed, pending] = await listOf(endpoint.id)
    await setStatus([delivered], 'succeeded')
    await setStatus([replayed, replaying, missed, failed], 'failed')
    await setStatus(await listOf(other.endpoint.id), 'failed')
    const at = later(ctx, 1_000)
    await sendAgain(at, replayed)
    await finish(at, await claimReplay(at), 200)
    await sendAgain(at, missed)
    await finish(at, await claimReplay(at), 500)
    await sendAgain(at, replaying)
    await finish(at, await claimReplay(at), 200)
    const before = await countDeliveries(ctx, workspace.id)
    assert.equal(await range({ only: 'failed' }, at), 2)
    assert.equal(await countDeliveries(ctx, workspace.id), before + 2)
    const rows = await listReplays()
    assert.deepEqual(
      rows.filter((row) => row['status'] === 'pending').map((row) => row['event_id']),
      [missed?.eventId, failed?.eventId],
    )
    // When the replays have been delivered, the same call replays nothing.
    await endReplays()
    assert.equal(await range({ only: 'failed' }, at), 0)
    assert.equal((await readDelivery(ctx, pending as Delivery)).status, 'pending')
  })

  test('a range of all deliveries includes delivered ones, but not pending ones, tests or replays', async () => {
    await announceMany(ctx, workspace, { count: 3, from: NOW })
    const [first, second] = await listOf(endpoint.id)
    await setStatus([first], 'succeeded')
    await setStatus([second], 'failed')
    const tested = await sendTestEvent(ctx, { ...subject(), actor: OPERATOR })
    await setStatus([tested], 'succeeded')
    assert.equal(await range({ only: 'all' }, later(ctx, 1_000)), 2)
    await endReplays()
    assert.equal(await range({ only: 'all' }, later(ctx, 2_000)), 2)
  })

  test('a range includes its start and excludes its end', async () => {
    await announceMany(ctx, workspace, { count: 5, from: NOW })
    await setStatus(await listOf(endpoint.id), 'failed')
    const at = (milliseconds: number) => new Date(NOW.getTime() + milliseconds)
    assert.equal(await range({ from: at(1), to: at(3) }, later(ctx, HOUR_MS)), 2)
    await endReplays()
    assert.equal(await range({ from: at(3), to: at(3) }, later(ctx, HOUR_MS)), 0)
    assert.equal(await range({ from: at(4), to: at(1) }, later(ctx, HOUR_MS)), 0)
  })

  test('a range is limited in size; repeating the call continues it', async () => {
    const total = REPLAYS_MAX + 1_500
    await seedFailed(total)
    const at = later(ctx, HOUR_MS)
    assert.equal(await range({ only: 'failed' }, at), REPLAYS_MAX)
    await endReplays()
    assert.equal(await range({ only: 'failed' }, at), 1_500)
    await endReplays()
    assert.equal(await range({ only: 'failed' }, at), 0)
    const [row] = await readRows(
      real.db,
      `select count(*)::integer as count, count(distinct event_id)::integer as events from deliveries
        where workspace_id = $1 and trigger = 'replay'`,
      [workspace.id],
    )
    assert.deepEqual(row, { count: total, events: total })
  })

  test('a range is not replayed while earlier replays of the endpoint are queued, whatever the range', async () => {
    const other = await makeEndpoint(ctx, workspace)
    await announceMany(ctx, workspace, { count: 3, from: NOW })
    await setStatus([...(await listOf(endpoint.id)), ...(await listOf(other.endpoint.id))], 'failed')
    const at = later(ctx, 1_000)
    const calls = await Promise.allSettled(Array.from({ length: 20 }, () => range({ only: 'all' }, at)))
    assert.deepEqual(
      calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : [])),
      [3],
    )
    const refused = { status: 409, code: 'replays_pending' }
    await assert.rejects(range({ from: NOW, to: NOW }, at), refused)
    const ofOther = { workspaceId: workspace.id, endpointId: other.endpoint.id, from: NOW, to: at.clock.now() } as const
    assert.equal(await replayRange(at, { ...ofOther, only: 'all', actor: OPERATOR }), 3)
    const count = await countDeliveries(ctx, workspace.id)
    // A replay in flight still counts as queued.
    const waiting = await claim(at)
    await assert.rejects(range({}, at), refused)
    assert.equal(await countDeliveries(ctx, workspace.id), count)
    for (const one of waiting) await finish(at, one, 500)
    assert.equal(await range({}, at), 3)
  })

  test('each replay writes one audit entry with the actor', async () => {
    await announce(ctx, workspace)
    const delivered = await finish(ctx, await claimOne(ctx), 200)
    const replay = await replayDelivery(ctx, { workspaceId: workspace.id, deliveryId: delivered.id, actor: ADA })
    await endReplays()
    const [from, to] = [NOW, new Date(NOW.getTime() + HOUR_MS)]
    await replayRange(later(ctx, HOUR_MS), {
      workspaceId: workspace.id,
      endpointId: endpoint.id,
      from,
      to,
      only: 'all',
      actor: ADA,
    })
    await endReplays()
    await replayRange(ctx, {
      workspaceId: workspace.id,
      endpointId: endpoint.id,
      from: to,
      to,
      only: 'all',
      actor: ADA,
    })
    const rows = (await readAudit(real.db, workspace.id)).filter((row) => row['action'] === 'webhook.replayed')
    const by = { actor_kind: 'user', actor_id: 'usr_ada', action: 'webhook.replayed' }
    const single = { mode: 'test', webhook: endpoint.id, event: delivered.eventId, replay_of: delivered.id }
    const times = { from: from.toISOString(), to: to.toISOString() }
    assert.deepEqual(rows, [
      { ...by, subject: replay.id, details: single },
      { ...by, subject: endpoint.id, details: { mode: 'test', ...times, only: 'all', count: 1 } },
    ])
  })

  test('a test event goes only to its endpoint, whatever events the endpoint is subscribed to, and is tried once', async () => {
    await makeEndpoint(ctx, workspace)
    const narrow = await makeEndpoint(ctx, workspace, { mode: 'live', events: ['payment.failed'] })
    const delivery = await sendTestEvent(ctx, { workspaceId: workspace.id, id: narrow.endpoint.id, actor: OPERATOR })
    const claimed = await claimOne(ctx)
    assert.deepEqual(claimed.delivery, delivery)
    assert.deepEqual(JSON.parse(claimed.body), {
      id: delivery.eventId,
      type: 'webhook.test',
      created_at: NOW.toISOString(),
      mode: 'live',
      account_slug: workspace.slug,
      data: { webhook: { id: narrow.endpoint.id } },
    })
    assert.equal((await finish(ctx, claimed, 500)).status, 'failed')
    assert.deepEqual(await claim(later(ctx, 99 * HOUR_MS)), [])
  })

  function subject() {
    return { workspaceId: workspace.id, id: endpoint.id }
  }

  function sendAgain(at: Context, delivery: Delivery | undefined): Promise<Delivery> {
    return replayDelivery(at, { workspaceId: workspace.id, deliveryId: delivery?.id ?? '', actor: OPERATOR })
  }

  function range(changes: { from?: Date; to?: Date; only?: 'failed' | 'all' }, at: Context = ctx): Promise<number> {
    const to = new Date(NOW.getTime() + HOUR_MS)
    return replayRange(at, {
      workspaceId: workspace.id,
      endpointId: endpoint.id,
      from: NOW,
      to,
      only: 'failed',
      ...changes,
      actor: OPERATOR,
    })
  }

  async function failForGood(): Promise<Delivery> {
    await announce(ctx, workspace)
    await setStatus([await readOnlyDelivery(ctx, workspace.id, endpoint.id)], 'failed')
    return await readOnlyDelivery(ctx, workspace.id, endpoint.id)
  }

  /** Claims the due deliveries and returns the one that is a replay. */
  async function claimReplay(at: Context): Promise<ClaimedDelivery> {
    const claimed = (await claim(at)).find(({ delivery }) => delivery.trigger === 'replay')
    if (claimed === undefined) throw new Error('no replay was claimed')
    return claimed
  }

  /** Lists the deliveries to an endpoint that are not replays or tests, oldest first. */
  async function listOf(endpointId: string): Promise<Delivery[]> {
    const rows = await readRows(
      real.db,
      `select id from deliveries where workspace_id = $1 and endpoint_id = $2 and trigger = 'event' order by id`,
      [workspace.id, endpointId],
    )
    return await Promise.all(rows.map((row) => readDelivery(ctx, { workspaceId: workspace.id, id: String(row['id']) })))
  }

  /** Marks the replays as delivered. */
  async function endReplays(): Promise<void> {
    await readRows(
      real.db,
      `update deliveries set status = 'succeeded', attempts = 1, next_attempt_at = null, finished_at = created_at
        where workspace_id = $1 and trigger = 'replay' and status = 'pending'`,
      [workspace.id],
    )
  }

  function listReplays() {
    return readRows(
      real.db,
      `select event_id, status from deliveries where workspace_id = $1 and trigger = 'replay' order by event_id`,
      [workspace.id],
    )
  }

  /** Sets the status of deliveries, as their attempts would have done. */
  async function setStatus(deliveries: readonly (Delivery | undefined)[], status: 'succeeded' | 'failed') {
    await readRows(
      real.db,
      `update deliveries set status = $2, attempts = 6, next_attempt_at = null, finished_at = created_at
        where workspace_id = $1 and id = any ($3)`,
      [workspace.id, status, deliveries.map((delivery) => delivery?.id)],
    )
  }

  /** Creates failed deliveries, each of a different event. */
  async function seedFailed(count: number): Promise<void> {
    const ids = Array.from({ length: count }, (_, index) =>
      createId('event', new Date(NOW.getTime() + Math.floor(index / 10))),
    )
    await readRows(
      real.db,
      `insert into events (workspace_id, id, mode, type, created_at, data, data_text)
        select $1, id, 'test', 'payment.failed', $2, '{}', '{}' from unnest($3::text[]) as ids (id)`,
      [workspace.id, NOW, ids],
    )
    await readRows(
      real.db,
      `insert into deliveries
        (workspace_id, id, mode, endpoint_id, event_id, event_type, trigger, status, attempts, created_at, finished_at)
        select $1, 'dlv_' || substr(id, 5) || '_' || substr($4, 5), 'test', $4, id, 'payment.failed', 'event', 'failed', 6, $2, $2
        from unnest($3::text[]) as ids (id)`,
      [workspace.id, NOW, ids, endpoint.id],
    )
  }
})
