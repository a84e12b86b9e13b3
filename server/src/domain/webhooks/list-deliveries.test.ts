import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../audit/audit-entry.ts'
import {
  announce,
  announceMany,
  claimOne,
  finish,
  makeWorkspace,
  makeEndpoint,
} from '../../../../test/support/context/delivery-rows.ts'
import { frozenAt, later } from '../../../../test/support/context/moved-clock.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import type { Context } from '../context.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import type { Delivery } from './delivery.ts'
import { listDeliveryRows, type DeliverySelection } from './deliveries-store.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { getDelivery } from './queries.ts'
import { listDeliveries, type DeliveryFilter } from './list-deliveries.ts'
import { replayDelivery } from './replay-delivery.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')

describe('the delivery log', () => {
  let given: TestContext
  let ctx: Context
  let workspace: Workspace
  let first: WebhookEndpoint
  let second: WebhookEndpoint
  let live: WebhookEndpoint
  let delivered: Delivery
  let replayed: Delivery

  /**
   * In test mode, seven events go to both endpoints, and two `payment.failed` events go to the first endpoint only. One
   * delivery is replayed. In live mode, there is one delivery.
   */
  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
    workspace = await makeWorkspace(ctx)
    first = (await makeEndpoint(ctx, workspace)).endpoint
    second = (await makeEndpoint(ctx, workspace, { events: ['payment.confirmed'] })).endpoint
    live = (await makeEndpoint(ctx, workspace, { mode: 'live' })).endpoint
    await announce(ctx, workspace, { mode: 'live', createdAt: at(-1) })
    delivered = await finish(ctx, await claimOne(ctx), 200)
    await announceMany(ctx, workspace, { count: 7, from: NOW })
    await announceMany(ctx, workspace, { count: 2, from: at(7), type: 'payment.failed' })
    const [oldest] = (await list({ endpointId: first.id })).toReversed()
    replayed = await replayDelivery(later(ctx, 10), {
      workspaceId: workspace.id,
      deliveryId: oldest?.id ?? '',
      actor: OPERATOR,
    })
    await readRows(
      given.context.db,
      `update deliveries set status = 'failed', next_attempt_at = null, finished_at = created_at
        where workspace_id = $1 and endpoint_id = $2 and created_at <= $3`,
      [workspace.id, first.id, at(1)],
    )
  })
  after(() => given.close())

  test('the log lists the deliveries of one mode, newest first', async () => {
    const all = await list({})
    assert.equal(all.length, 17)
    assert.equal(all[0]?.id, replayed.id)
    const times = all.map(({ createdAt }) => createdAt.getTime())
    assert.deepEqual(
      times,
      times.toSorted((left, right) => right - left),
    )
    assert.deepEqual(await list({}, { mode: 'live' }), [delivered])
  })

  for (const limit of [1, 2, 5, 16, 17, 100]) {
    test(`pages of ${limit} have no gaps and no duplicates`, async () => {
      const all = await list({})
      const paged: Delivery[] = []
      for (
        let page = await list({}, { limit });
        page.length > 0;
        page = await list({}, { limit, before: paged.at(-1)?.id ?? null })
      ) {
        assert.ok(page.length <= limit)
        paged.push(...page)
      }
      assert.deepEqual(paged, all)
    })
  }

  test('a page stays the same while new deliveries arrive', async () => {
    const all = await list({})
    const [top] = await list({}, { limit: 1 })
    await announce(later(ctx, 50), workspace, { type: 'payment.failed' })
    assert.deepEqual(await list({}, { before: top?.id ?? null }), all.slice(1))
    await readRows(given.context.db, 'delete from deliveries where workspace_id = $1 and created_at = $2', [
      workspace.id,
      at(50),
    ])
  })

  const cases: readonly { name: string; filter: () => DeliveryFilter; count: number }[] = [
    { name: 'of an endpoint', filter: () => ({ endpointId: first.id }), count: 10 },
    { name: 'of another endpoint', filter: () => ({ endpointId: second.id }), count: 7 },
    { name: 'of an endpoint of the other mode', filter: () => ({ endpointId: live.id }), count: 0 },
    { name: 'of an event type', filter: () => ({ eventType: 'payment.failed' }), count: 2 },
    { name: 'of an event, replay included', filter: () => ({ eventId: replayed.eventId }), count: 3 },
    { name: 'of an event of the other mode', filter: () => ({ eventId: delivered.eventId }), count: 0 },
    { name: 'that failed', filter: () => ({ status: 'failed' }), count: 2 },
    { name: 'that are pending', filter: () => ({ status: 'pending' }), count: 15 },
    { name: 'that succeeded', filter: () => ({ status: 'succeeded' }), count: 0 },
    { name: 'from a time on', filter: () => ({ from: at(7) }), count: 3 },
    { name: 'before a time', filter: () => ({ to: at(1) }), count: 2 },
    { name: 'of a range of time', filter: () => ({ from: at(1), to: at(3) }), count: 4 },
    { name: 'of an empty range', filter: () => ({ from: at(3), to: at(3) }), count: 0 },
    {
      name: 'of all filters together',
      filter: () => ({
        endpointId: first.id,
        eventType: 'payment.confirmed',
        status: 'failed',
        eventId: replayed.eventId,
        from: at(0),
        to: at(1),
      }),
      count: 1,
    },
  ]
  for (const { name, filter, count } of cases) {
    test(`the log can show only deliveries ${name}`, async () => {
      const found = await list(filter())
      assert.equal(found.length, count)
      const all = await list({})
      const wanted = filter()
      const expected = all.filter(
        (one) =>
          (wanted.endpointId ?? one.endpointId) === one.endpointId &&
          (wanted.eventType ?? one.eventType) === one.eventType &&
          (wanted.eventId ?? one.eventId) === one.eventId &&
          (wanted.status ?? one.status) === one.status &&
          one.createdAt >= (wanted.from ?? one.createdAt) &&
          (wanted.to === undefined || one.createdAt < wanted.to),
      )
      assert.deepEqual(found, expected)
      if (count > 1) assert.deepEqual(await list(filter(), { before: found[0]?.id ?? null }), found.slice(1))
    })
  }

  test('a cursor beyond the range has no effect', async () => {
    assert.deepEqual(await list({ to: at(1) }, { before: replayed.id }), await list({ to: at(1) }))
  })

  test('another workspace cannot see these deliveries', async () => {
    const other = await makeWorkspace(ctx)
    for (const filter of [{}, { endpointId: first.id }, { eventId: replayed.eventId }, { status: 'failed' as const }]) {
      const request = { workspaceId: other.id, mode: 'test', filter, before: null, limit: 100 } as const
      assert.deepEqual(await listDeliveries(ctx, request), [])
    }
    const missing = { status: 404, code: 'delivery_not_found' }
    await assert.rejects(getDelivery(ctx, { workspaceId: other.id, id: delivered.id }), missing)
    await assert.rejects(getDelivery(ctx, { workspaceId: workspace.id, id: 'dlv_' }), missing)
  })

  test('a delivery is read with its attempts', async () => {
    const { delivery, attempts } = await getDelivery(ctx, { workspaceId: workspace.id, id: delivered.id })
    assert.deepEqual(delivery, delivered)
    assert.deepEqual(
      attempts.map(({ number, statusCode }) => [number, statusCode]),
      [[1, 200]],
    )
  })

  test("an endpoint's deliveries stay in the log when it is deleted", async () => {
    const gone = (await makeEndpoint(ctx, workspace, { events: ['inbound.received'] })).endpoint
    await announce(later(ctx, 60), workspace, { type: 'inbound.received' })
    await deleteEndpoint(ctx, { workspaceId: workspace.id, id: gone.id, actor: OPERATOR })
    const found = await list({ endpointId: gone.id })
    assert.deepEqual(
      found.map(({ status }) => status),
      ['canceled'],
    )
    assert.deepEqual(
      (await list({}, { limit: 20 })).filter(({ endpointId }) => endpointId === gone.id),
      found,
    )
  })

  const plans: readonly { name: string; filter: Partial<DeliverySelection>; index: string }[] = [
    { name: 'the log of all deliveries', filter: {}, index: 'deliveries_of_endpoint' },
    { name: 'the log of failed deliveries', filter: { status: 'failed' }, index: 'deliveries_failed' },
    { name: 'the log of an event', filter: { eventId: 'evt_' }, index: 'deliveries_of_event' },
  ]
  for (const { name, filter, index } of plans) {
    test(`${name} is read by ${index}`, async () => {
      const none = { endpointId: null, eventId: null, eventType: null, status: null, from: 'dlv_', below: 'dlv_Z' }
      const { text } = listDeliveryRows(workspace.id, 'test', { ...none, ...filter }, 10)
      const rows = await readRows(given.context.db, `explain (generic_plan, costs off) ${text}`)
      const plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n')
      assert.match(plan, new RegExp(`Scan.* (?:using|on) ${index}\\b`))
      // Every connection has `enable_sort=off` (decision 0038), so a plan marks each sort as disabled. The few rows
      // here must be sorted.
      assert.doesNotMatch(plan, /Seq Scan|(?<!Sort\n *)Disabled/)
    })
  }

  function at(milliseconds: number): Date {
    return new Date(NOW.getTime() + milliseconds)
  }

  function list(
    filter: DeliveryFilter,
    {
      mode = 'test',
      before = null,
      limit = 100,
    }: { mode?: 'test' | 'live'; before?: string | null; limit?: number } = {},
  ): Promise<Delivery[]> {
    return listDeliveries(ctx, { workspaceId: workspace.id, mode, filter, before, limit })
  }
})
