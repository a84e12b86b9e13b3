import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import {
  announce,
  claim,
  claimOne,
  clearQueues,
  finish,
  makeWorkspace,
  makeEndpoint,
  outcomeOf,
  readDelivery,
  readOnlyDelivery,
} from '../../../../test/support/context/delivery-rows.ts'
import { frozenAt, later } from '../../../../test/support/context/moved-clock.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import type { ClaimedDelivery } from './delivery.ts'
import { RETRY_DELAYS_MS } from './retry-schedule.ts'
import { FAILING_MS, type WebhookEndpoint } from './endpoint.ts'
import { finishAttempts } from './finish-attempts.ts'
import { getDelivery, getEndpoint } from './queries.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')
const DAY_MS = 24 * 60 * 60 * 1_000
const HOUR_MS = DAY_MS / 24

describe('finishing an attempt', () => {
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

  test('a success ends the delivery at once, with its attempt', async () => {
    await announce(ctx, workspace)
    const claimed = await claimOne(ctx)
    const outcome = outcomeOf(ctx, { statusCode: 204, durationMs: 250.4, responseBody: Buffer.from([0, 255, 10]) })
    await finishAttempts(ctx, [{ claimed, outcome }])
    const { delivery, attempts } = await getDelivery(ctx, claimed.delivery)
    const finishedAt = new Date(outcome.startedAt.getTime() + 250)
    assert.deepEqual(delivery, {
      ...claimed.delivery,
      status: 'succeeded',
      attempts: 1,
      nextAttemptAt: null,
      finishedAt,
    })
    assert.deepEqual(attempts, [{ ...outcome, number: 1, durationMs: 250 }])
    assert.deepEqual(await claim(later(ctx, DAY_MS)), [])
  })

  test('an attempt that ends between the two reads of a delivery is not shown with its earlier state', async () => {
    await announce(ctx, workspace)
    const claimed = await claimOne(ctx)
    await finishAttempts(ctx, [{ claimed, outcome: outcomeOf(ctx, { statusCode: 503 }) }])
    // `getDelivery` reads the delivery first, and then the attempts. To simulate an attempt that ends in between, the
    // update resets the delivery's count of attempts.
    await readRows(real.db, 'update deliveries set attempts = 0 where id = $1', [claimed.delivery.id])
    const { delivery, attempts } = await getDelivery(ctx, claimed.delivery)
    assert.deepEqual([delivery.attempts, attempts], [0, []])
  })

  test('the whole schedule: six attempts, each delayed from the end of the one before, then the delivery has failed', async () => {
    const { createdAt } = await announce(ctx, workspace)
    let at = createdAt.getTime()
    for (const [index, waitMs] of [...RETRY_DELAYS_MS, null].entries()) {
      const context = frozenAt(real, new Date(at))
      const claimed = await claimOne(context)
      assert.equal(claimed.attemptNumber, index + 1)
      // The attempt takes ten seconds, and the delay starts when it ends.
      const ended = later(context, 10_000)
      const delivery = await finish(ended, claimed, 500)
      assert.equal(delivery.attempts, index + 1)
      if (waitMs === null) {
        assert.equal(delivery.status, 'failed')
        assert.deepEqual(delivery.finishedAt, ended.clock.now())
        break
      }
      assert.equal(delivery.status, 'pending')
      at += 10_000 + waitMs
      assert.deepEqual(delivery.nextAttemptAt, new Date(at))
      assert.deepEqual(await claim(frozenAt(real, new Date(at - 1))), [])
    }
    assert.deepEqual(await claim(later(ctx, 10 * DAY_MS)), [])
    const { attempts } = await getDelivery(ctx, await readOnlyDelivery(ctx, workspace.id, endpoint.id))
    assert.deepEqual(
      attempts.map(({ number, statusCode, error }) => [number, statusCode, error]),
      [1, 2, 3, 4, 5, 6].map((number) => [number, 500, 'http_error']),
    )
  })

  test('a success at the third attempt ends the schedule', async () => {
    await announce(ctx, workspace)
    await finish(ctx, await claimOne(ctx), 500)
    await finish(later(ctx, HOUR_MS), await claimOne(later(ctx, HOUR_MS)), 503)
    const third = await finish(later(ctx, 2 * HOUR_MS), await claimOne(later(ctx, 2 * HOUR_MS)), 200)
    assert.deepEqual([third.status, third.attempts, third.nextAttemptAt], ['succeeded', 3, null])
    assert.deepEqual(await claim(later(ctx, DAY_MS)), [])
  })

  for (const error of ['timeout', 'dns_error', 'tls_error', 'blocked_address'] as const) {
    test(`an attempt without a response is a failure like any other: ${error}`, async () => {
      await announce(ctx, workspace)
      const claimed = await claimOne(ctx)
      const outcome = outcomeOf(ctx, { statusCode: null, error, durationMs: 10_000 })
      await finishAttempts(ctx, [{ claimed, outcome }])
      const { delivery, attempts } = await getDelivery(ctx, claimed.delivery)
      assert.equal(delivery.status, 'pending')
      assert.deepEqual(attempts, [{ ...outcome, number: 1 }])
    })
  }

  test('a 410 disables the endpoint at once and is logged once, and its deliveries wait until it is enabled', async () => {
    await announce(ctx, workspace)
    await announce(ctx, workspace)
    const [first, second] = await claim(ctx)
    assert.equal((await finish(ctx, first as ClaimedDelivery, 410)).status, 'pending')
    const disabled = await read()
    assert.equal(disabled.disabledBecause, 'gone')
    await finish(later(ctx, 1_000), second as ClaimedDelivery, 410)
    assert.deepEqual(await read(), disabled)
    assert.deepEqual(await readDisablings(), ['gone'])
    assert.deepEqual(await claim(later(ctx, DAY_MS)), [])
    await changeEndpoint(later(ctx, DAY_MS), { ...subject(), change: { enabled: true }, actor: OPERATOR })
    assert.equal((await claim(later(ctx, DAY_MS))).length, 2)
  })

  test('an endpoint counts as failing from its first failure until a success', async () => {
    await fail(ctx)
    const since = (await read()).failingSince
    assert.deepEqual(since, NOW)
    await fail(later(ctx, HOUR_MS))
    assert.deepEqual((await read()).failingSince, since)
    await succeed(later(ctx, 2 * HOUR_MS))
    assert.equal((await read()).failingSince, null)
    await fail(later(ctx, 3 * HOUR_MS))
    assert.deepEqual((await read()).failingSince, new Date(NOW.getTime() + 3 * HOUR_MS))
  })

  test('an endpoint that has only failed for 5 days is disabled, not a moment sooner, and this is logged', async () => {
    await fail(ctx)
    await fail(later(ctx, 3 * DAY_MS))
    await fail(later(ctx, FAILING_MS - 1))
    assert.equal((await read()).disabledAt, null)
    await fail(later(ctx, FAILING_MS))
    const { disabledAt, disabledBecause, failingSince } = await read()
    assert.deepEqual([disabledAt, disabledBecause], [new Date(NOW.getTime() + FAILING_MS), 'failing'])
    assert.deepEqual(failingSince, NOW)
    assert.deepEqual(await readDisablings(), ['failing'])
  })

  test('two failures far apart do not disable an endpoint while the second delivery is still retried', async () => {
    await fail(ctx)
    await clearQueues(real)
    await announce(later(ctx, 7 * DAY_MS), workspace)
    assert.equal((await finish(later(ctx, 7 * DAY_MS), await claimOne(later(ctx, 7 * DAY_MS)), 503)).status, 'pending')
    assert.equal((await read()).disabledAt, null)
  })

  test('failures at the old URL do not count for the new one', async () => {
    await fail(ctx)
    await announce(ctx, workspace)
    const claimed = await claimOne(ctx)
    const moved = await changeEndpoint(ctx, {
      ...subject(),
      change: { url: 'https://new.example/hooks' },
      actor: OPERATOR,
    })
    assert.equal(moved.failingSince, null)
    await finish(ctx, claimed, 410)
    const { disabledAt, failingSince } = await read()
    assert.deepEqual([disabledAt, failingSince], [null, null])
    await fail(later(ctx, FAILING_MS))
    assert.equal((await read()).disabledAt, null)
  })

  test('after one success, the 5 days start again', async () => {
    await fail(ctx)
    await succeed(later(ctx, 4 * DAY_MS))
    await fail(later(ctx, FAILING_MS + HOUR_MS))
    await fail(later(ctx, FAILING_MS + 2 * HOUR_MS))
    assert.equal((await read()).disabledAt, null)
  })

  test('an endpoint that fails now and then is never disabled', async () => {
    for (let day = 0; day < 20; day += 1) {
      await fail(later(ctx, day * DAY_MS))
      await fail(later(ctx, day * DAY_MS + HOUR_MS))
      await succeed(later(ctx, day * DAY_MS + 2 * HOUR_MS))
    }
    const { disabledAt, failingSince } = await read()
    assert.deepEqual([disabledAt, failingSince], [null, null])
  })

  test('an endpoint that is enabled again has the full 5 days again', async () => {
    await fail(ctx)
    await fail(later(ctx, FAILING_MS))
    const enabled = await changeEndpoint(later(ctx, 6 * DAY_MS), {
      ...subject(),
      change: { enabled: true },
      actor: OPERATOR,
    })
    assert.deepEqual([enabled.disabledAt, enabled.failingSince], [null, null])
    await clearQueues(real)
    await fail(later(ctx, 7 * DAY_MS))
    assert.equal((await read()).disabledAt, null)
  })

  test('an attempt in flight when the owner disabled the endpoint still counts, and the endpoint stays disabled', async () => {
    await announce(ctx, workspace)
    await announce(ctx, workspace)
    const [first, second] = await claim(ctx)
    const disabled = await changeEndpoint(ctx, { ...subject(), change: { enabled: false }, actor: OPERATOR })
    assert.equal((await finish(ctx, first as ClaimedDelivery, 410)).status, 'pending')
    assert.equal((await finish(ctx, second as ClaimedDelivery, 200)).status, 'succeeded')
    assert.deepEqual(await read(), disabled)
    assert.deepEqual(await readDisablings(), [])
  })

  test('a delivery whose endpoint was disabled continues its schedule once enabled; an overdue attempt is due at once', async () => {
    await announce(ctx, workspace)
    await finish(ctx, await claimOne(ctx), 500)
    await changeEndpoint(ctx, { ...subject(), change: { enabled: false }, actor: OPERATOR })
    await announce(later(ctx, HOUR_MS), workspace)
    assert.deepEqual(await claim(later(ctx, DAY_MS)), [])
    await changeEndpoint(later(ctx, DAY_MS), { ...subject(), change: { enabled: true }, actor: OPERATOR })
    const claimed = await claimOne(later(ctx, DAY_MS))
    assert.equal(claimed.attemptNumber, 2)
  })

  test('if the endpoint is deleted during an attempt, the delivery is canceled and the attempt records nothing', async () => {
    await announce(ctx, workspace)
    const claimed = await claimOne(ctx)
    await deleteEndpoint(ctx, { ...subject(), actor: OPERATOR })
    for (const statusCode of [500, 200]) {
      assert.equal((await finish(ctx, claimed, statusCode)).status, 'canceled')
    }
    assert.deepEqual((await getDelivery(ctx, claimed.delivery)).attempts, [])
    assert.deepEqual(await claim(later(ctx, DAY_MS)), [])
  })

  test('an attempt that is finished ten times at once is recorded once', async () => {
    await openConnections(real.db)
    await announce(ctx, workspace)
    const claimed = await claimOne(ctx)
    await Promise.all(Array.from({ length: 10 }, () => finish(ctx, claimed, 410)))
    const { delivery, attempts } = await getDelivery(ctx, claimed.delivery)
    assert.deepEqual([delivery.attempts, attempts.length], [1, 1])
    assert.deepEqual(await readDisablings(), ['gone'])
  })

  test('concurrent attempts all end, even while their endpoint is claimed, changed and deleted', async () => {
    await openConnections(real.db)
    for (let index = 0; index < 40; index += 1) await announce(ctx, workspace)
    const claimed = await claim(ctx, { inFlightMax: 20 })
    const outcomes = await Promise.allSettled([
      ...claimed.map((one, index) => finish(ctx, one, index % 3 === 0 ? 200 : 500)),
      claim(ctx),
      deleteEndpoint(ctx, { ...subject(), actor: OPERATOR }),
      claim(ctx),
      changeEndpoint(ctx, { ...subject(), change: { url: 'https://moved.example/' }, actor: OPERATOR }),
    ])
    for (const outcome of outcomes) {
      // Only the change of the URL can fail, because the endpoint may already be deleted.
      if (outcome.status === 'rejected') assert.equal((outcome.reason as { code: string }).code, 'webhook_not_found')
    }
    for (const { delivery } of claimed) assert.notEqual((await readDelivery(ctx, delivery)).status, 'pending')
  })

  function subject() {
    return { workspaceId: workspace.id, id: endpoint.id }
  }

  function read(): Promise<WebhookEndpoint> {
    return getEndpoint(ctx, subject())
  }

  /** Makes a delivery fail permanently, with its last attempt. */
  async function fail(at: Context): Promise<void> {
    await clearQueues(real)
    await announce(at, workspace)
    await readRows(real.db, "update deliveries set attempts = 5 where status = 'pending'")
    assert.equal((await finish(at, await claimOne(at), 500)).status, 'failed')
  }

  async function succeed(at: Context): Promise<void> {
    await clearQueues(real)
    await announce(at, workspace)
    await finish(at, await claimOne(at), 200)
  }

  /** Reads the reasons that the audit log gives for disabling the endpoint. */
  async function readDisablings(): Promise<unknown[]> {
    const rows = await readAudit(real.db, workspace.id)
    return rows
      .filter((row) => row['action'] === 'webhook.disabled')
      .map((row) => {
        assert.deepEqual([row['actor_kind'], row['actor_id'], row['subject']], ['operator', null, endpoint.id])
        return (row['details'] as { because: unknown }).because
      })
  }
})
