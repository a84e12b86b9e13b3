import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import {
  announce,
  announceMany,
  claim,
  claimOne,
  clearQueues,
  makeWorkspace,
  makeEndpoint,
  outcomeOf,
} from '../../../../test/support/context/delivery-rows.ts'
import { frozenAt, later } from '../../../../test/support/context/moved-clock.ts'
import { openConnections, readRows, runUnlimited } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { RawRow } from '../../db/query.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { EVENT_RETENTION_MS } from '../events/event.ts'
import { DROPPED_BYTES_MAX } from '../stored-bytes/stored-bytes.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { cleanUpWebhooks } from './clean-up-webhooks.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import { LEASE_MS, type AttemptOutcome, type ClaimedDelivery } from './delivery.ts'
import { HANGING_MS, type WebhookEndpoint } from './endpoint.ts'
import { finishAttempts } from './finish-attempts.ts'
import { finishSuccesses } from './outcomes-store.ts'
import { getDelivery } from './queries.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')
const MINUTE_MS = 60_000

describe('finishing attempts together', () => {
  let given: TestContext
  let real: Context
  /** The context `real` with a clock that does not advance. */
  let ctx: Context
  let workspace: Workspace
  before(async () => {
    given = await openTestContext()
    real = given.context
    ctx = frozenAt(real, NOW)
  })
  beforeEach(async () => {
    await clearQueues(real)
    workspace = await makeWorkspace(real)
  })
  after(() => given.close())

  /** Creates an endpoint, and claims this many deliveries to it. */
  async function claimSome(count: number): Promise<{ endpoint: WebhookEndpoint; claimed: ClaimedDelivery[] }> {
    const { endpoint } = await makeEndpoint(ctx, workspace)
    const from = new Date(NOW.getTime() - MINUTE_MS)
    await announceMany(ctx, workspace, { count, from })
    return { endpoint, claimed: await claim(ctx, { inFlightMax: count }) }
  }

  const ended = (claimed: ClaimedDelivery, changes: Partial<AttemptOutcome> = {}) => ({
    claimed,
    outcome: outcomeOf(ctx, changes),
  })

  /** Reads the fields of an endpoint that an attempt can change. */
  async function readEndpoint({ id }: WebhookEndpoint): Promise<RawRow | undefined> {
    const text = 'select hangs, failing_since, disabled_at, url from webhook_endpoints where id = $1'
    return (await readRows(real.db, text, [id]))[0]
  }

  test('records each of them as it would be recorded alone', async () => {
    const { claimed } = await claimSome(6)
    const changes: Partial<AttemptOutcome>[] = [
      { statusCode: 200 },
      { statusCode: 204, responseBody: Buffer.from([0, 255, 10, 92, 34]) },
      { statusCode: 299, responseBody: Buffer.alloc(0), durationMs: 250.4 },
    ]
    const attempts = claimed.map((one, index) => ended(one, changes[index % 3]))
    const [together, alone] = [attempts.slice(0, 3), attempts.slice(3)]
    await finishAttempts(ctx, together)
    for (const attempt of alone) await finishAttempts(ctx, [attempt])
    const read = async ({ claimed: { delivery } }: (typeof attempts)[number]) => {
      const { delivery: found, attempts: made } = await getDelivery(ctx, delivery)
      const { id, eventId, createdAt, ...rest } = found
      assert.deepEqual([id, eventId, createdAt], [delivery.id, delivery.eventId, delivery.createdAt])
      return { ...rest, made }
    }
    const records = await Promise.all(attempts.map(read))
    assert.deepEqual(records.slice(0, 3), records.slice(3))
    assert.deepEqual(
      records.map(({ status, attempts: count, made }) => [status, count, made.length]),
      records.map(() => ['succeeded', 1, 1]),
    )
    assert.deepEqual(await claim(later(ctx, 10 * MINUTE_MS)), [])
  })

  test('records those of several workspaces, with the number of each attempt', async () => {
    const { claimed } = await claimSome(2)
    await readRows(real.db, 'update deliveries set attempts = 3 where id = $1', [claimed[1]?.delivery.id])
    workspace = await makeWorkspace(real)
    const others = await claimSome(2)
    const all = [...claimed, ...others.claimed]
    const numbered = all.map((one, index) => ({ ...one, attemptNumber: index === 1 ? 4 : 1 }))
    await finishAttempts(
      ctx,
      numbered.map((one) => ended(one)),
    )
    const records = await Promise.all(all.map(({ delivery }) => getDelivery(ctx, delivery)))
    assert.deepEqual(
      records.map(({ delivery, attempts }) => [
        delivery.status,
        delivery.attempts,
        attempts.map(({ number }) => number),
      ]),
      [1, 4, 1, 1].map((number) => ['succeeded', number, [number]]),
    )
  })

  test('counts long responses in a budget, and the oldest of them go when it is full (D93)', async () => {
    const { claimed } = await claimSome(5)
    const sorted = claimed.toSorted((one, other) => (one.delivery.id < other.delivery.id ? -1 : 1))
    const [first, second, third, fourth, short] = sorted as [
      ...[ClaimedDelivery, ClaimedDelivery, ClaimedDelivery, ClaimedDelivery, ClaimedDelivery],
    ]
    const body = Buffer.alloc(16 * 1_024, 'x')
    const failed = { statusCode: 500, error: 'http_error', responseBody: body } as const
    await finishAttempts(ctx, [ended(first, { responseBody: body }), ended(short, { responseBody: Buffer.from('ok') })])
    await finishAttempts(ctx, [ended(second, failed)])
    await finishAttempts(ctx, [ended(third, { responseBody: body })])
    assert.equal(await readUsed(), 3 * body.length)
    // As if the rest of the budget were used by responses that are newer than these.
    const full = DROPPED_BYTES_MAX.responses - body.length / 2
    await readRows(real.db, `update stored_bytes set used_bytes = $2 where workspace_id = $1 and kind = 'responses'`, [
      workspace.id,
      full,
    ])
    await finishAttempts(ctx, [ended(fourth, failed)])
    const kept = async ({ delivery }: ClaimedDelivery) =>
      (await getDelivery(ctx, delivery)).attempts.map(({ statusCode, responseBody }) => [
        statusCode,
        responseBody?.length ?? null,
      ])
    assert.deepEqual(await Promise.all(sorted.map(kept)), [
      [[200, null]],
      [[500, body.length]],
      [[200, body.length]],
      [[500, body.length]],
      [[200, 2]],
    ])
    assert.equal(await readUsed(), full)
    const longAgo = later(ctx, EVENT_RETENTION_MS)
    await cleanUpWebhooks(longAgo)
    // The deliveries that failed are still pending.
    assert.equal(await readUsed(), full - body.length)
  })

  async function readUsed(): Promise<number> {
    const text = `select used_bytes from stored_bytes where workspace_id = $1 and kind = 'responses'`
    const [row] = await readRows(real.db, text, [workspace.id])
    return Number(row?.['used_bytes'])
  }

  test('leaves out a delivery whose lease has expired, one that was canceled, and one that is listed twice', async () => {
    const { endpoint, claimed } = await claimSome(3)
    const [first, second, third] = claimed as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery]
    await readRows(real.db, 'update deliveries set leased_until = $2 where id = $1', [
      second.delivery.id,
      new Date(second.leasedUntil.getTime() + 1),
    ])
    await readRows(
      real.db,
      `update deliveries set status = 'canceled', next_attempt_at = null, leased_until = null, finished_at = $2
        where id = $1`,
      [third.delivery.id, NOW],
    )
    // The endpoint does not count as hanging, because the slow attempts are not recorded.
    const slow = { durationMs: HANGING_MS }
    await finishAttempts(ctx, [ended(first), ended(first), ended(second, slow), ended(third, slow)])
    const records = await Promise.all(claimed.map(({ delivery }) => getDelivery(ctx, delivery)))
    assert.deepEqual(
      records.map(({ delivery, attempts }) => [delivery.status, delivery.attempts, attempts.length]),
      [
        ['succeeded', 1, 1],
        ['pending', 0, 0],
        ['canceled', 0, 0],
      ],
    )
    assert.equal((await readEndpoint(endpoint))?.['hangs'], false)
  })

  test('lets the last attempt decide whether the endpoint hangs, and ends its series of failures', async () => {
    const { endpoint, claimed } = await claimSome(4)
    const [first, second, third, fourth] = claimed as [
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
    ]
    await readRows(real.db, 'update webhook_endpoints set failing_since = $2 where id = $1', [endpoint.id, NOW])
    const slow = { durationMs: HANGING_MS }
    await finishAttempts(ctx, [ended(first), ended(second, slow)])
    const { hangs, failing_since: failingSince } = (await readEndpoint(endpoint)) ?? {}
    assert.deepEqual([hangs, failingSince], [true, null])
    await finishAttempts(ctx, [ended(third, slow), ended(fourth)])
    assert.equal((await readEndpoint(endpoint))?.['hangs'], false)
  })

  test('changes nothing at an endpoint that has a new URL, was disabled or was deleted', async () => {
    for (const change of [{ url: 'https://new.example/hooks' }, { enabled: false }, null]) {
      workspace = await makeWorkspace(real)
      const { endpoint, claimed } = await claimSome(2)
      const subject = { workspaceId: workspace.id, id: endpoint.id }
      await readRows(real.db, 'update webhook_endpoints set failing_since = $2 where id = $1', [endpoint.id, NOW])
      if (change === null) await deleteEndpoint(ctx, { ...subject, actor: OPERATOR })
      else await changeEndpoint(ctx, { ...subject, change, actor: OPERATOR })
      await readRows(real.db, 'update webhook_endpoints set failing_since = $2 where id = $1', [endpoint.id, NOW])
      const before = await readEndpoint(endpoint)
      await finishAttempts(
        ctx,
        claimed.map((one) => ended(one, { durationMs: HANGING_MS })),
      )
      assert.deepEqual(await readEndpoint(endpoint), before)
      const records = await Promise.all(claimed.map(({ delivery }) => getDelivery(ctx, delivery)))
      const expected = change === null ? 'canceled' : 'succeeded'
      for (const { delivery } of records) assert.equal(delivery.status, expected)
    }
  })

  test('ten batches that contain the same attempts at once record each of them once', async () => {
    await openConnections(real.db)
    const { claimed } = await claimSome(10)
    const attempts = claimed.map((one) => ended(one, { durationMs: HANGING_MS }))
    await Promise.all(Array.from({ length: 10 }, () => finishAttempts(ctx, attempts)))
    for (const { delivery } of claimed) {
      const found = await getDelivery(ctx, delivery)
      assert.deepEqual([found.delivery.status, found.attempts.length], ['succeeded', 1])
    }
  })

  test('records successes and failures to one endpoint in their order', async () => {
    const { endpoint, claimed } = await claimSome(6)
    const failingSince = async () => (await readEndpoint(endpoint))?.['failing_since']
    const [a, b, c, d, e, f] = claimed.map((one, index) =>
      ended(one, { statusCode: index % 2 === 0 ? 503 : 200, durationMs: index }),
    )
    assert.ok(a && b && c && d && e && f)
    await finishAttempts(ctx, [a, b])
    assert.equal(await failingSince(), null)
    await finishAttempts(ctx, [d, c, e])
    assert.deepEqual(await failingSince(), NOW)
    await finishAttempts(ctx, [f])
    assert.equal(await failingSince(), null)
    const records = await Promise.all(claimed.map(({ delivery }) => getDelivery(ctx, delivery)))
    assert.deepEqual(
      records.map(({ delivery, attempts }) => [delivery.status, attempts.map(({ statusCode }) => statusCode)]),
      [0, 1, 2, 3, 4, 5].map((index) => (index % 2 === 0 ? ['pending', [503]] : ['succeeded', [200]])),
    )
  })

  test('logs each endpoint that it disables, once, and records the other attempts too', async () => {
    const gone = await claimSome(3)
    workspace = await makeWorkspace(real)
    const healthy = await claimSome(1)
    await finishAttempts(
      ctx,
      [...gone.claimed, ...healthy.claimed].map((one, index) => ended(one, { statusCode: index < 3 ? 410 : 200 })),
    )
    assert.deepEqual((await readEndpoint(gone.endpoint))?.['disabled_at'], NOW)
    const disablings = (await readAudit(real.db, gone.endpoint.workspaceId)).filter(
      (row) => row['action'] === 'webhook.disabled',
    )
    assert.deepEqual(
      disablings.map((row) => [row['subject'], (row['details'] as { because: unknown }).because]),
      [[gone.endpoint.id, 'gone']],
    )
    assert.equal((await readEndpoint(healthy.endpoint))?.['disabled_at'], null)
    for (const { delivery } of healthy.claimed) {
      assert.equal((await getDelivery(ctx, delivery)).delivery.status, 'succeeded')
    }
  })

  test('a worker whose lease has expired records nothing of what another worker has claimed', async () => {
    await makeEndpoint(ctx, workspace)
    await announce(ctx, workspace)
    const lost = await claimOne(ctx)
    const taken = await claimOne(later(ctx, LEASE_MS))
    await finishAttempts(ctx, [ended(lost)])
    assert.equal((await getDelivery(ctx, taken.delivery)).delivery.status, 'pending')
    await finishAttempts(ctx, [ended(taken)])
    assert.equal((await getDelivery(ctx, taken.delivery)).attempts.length, 1)
  })

  test('finds each row by its primary key, whether most deliveries of a huge workspace are pending or finished', async () => {
    const { claimed } = await claimSome(1)
    const id = claimed[0]?.delivery.id
    const { url } = given.config.database
    const explain = async (): Promise<string> => {
      await runUnlimited(url, 'analyze deliveries, webhook_endpoints', [])
      return await real.db.transaction(async (transaction) => {
        const lines = (rows: readonly RawRow[]) => rows.map((row) => String(row['QUERY PLAN'])).join('\n')
        const text = `explain (generic_plan, costs off) ${finishSuccesses([]).text}`
        return await transaction.run({ name: '', text, values: [], read: lines })
      })
    }
    // Half of the deliveries are leased, as if many workers had claimed them.
    await runUnlimited(
      url,
      `insert into deliveries
          (workspace_id, id, mode, endpoint_id, event_id, event_type, trigger, status, next_attempt_at, created_at, leased_until)
        select workspace_id, id || number, mode, endpoint_id, event_id, event_type, trigger, 'pending', $2, $2,
          case when number % 2 = 0 then $2::timestamptz end
        from deliveries cross join generate_series(1, 20000) as number where id = $1`,
      [id, NOW],
    )
    const plans = [await explain()]
    await runUnlimited(
      url,
      `update deliveries set status = 'succeeded', next_attempt_at = null, leased_until = null, finished_at = $2
        where id > $1 and starts_with(id, $1)`,
      [id, NOW],
    )
    plans.push(await explain())
    for (const plan of plans) {
      assert.match(
        plan,
        /Scan using deliveries_pkey on deliveries d\n\s+Index Cond: \(\(workspace_id = s\.workspace_id\) AND \(id = s\.id\)\)/,
      )
      assert.match(
        plan,
        /Scan using webhook_endpoints_\w+ on webhook_endpoints e\n\s+Index Cond: \(\(workspace_id = .* AND \(id = /,
      )
      assert.doesNotMatch(plan, /Seq Scan|Hash|Merge/)
    }
  })
})
