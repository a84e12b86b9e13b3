import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  ALL_FREE,
  announce,
  announceMany,
  claim,
  claimOne,
  clearQueues,
  finish,
  makeWorkspace,
  makeEndpoint,
  outcomeOf,
  readDelivery,
} from '../../../../test/support/context/delivery-rows.ts'
import { frozenAt, later } from '../../../../test/support/context/moved-clock.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import { LEASE_MS, type ClaimedDelivery } from './delivery.ts'
import { ROTATION_OVERLAP_MS } from './endpoint.ts'
import { finishAttempts } from './finish-attempts.ts'
import { getDelivery } from './queries.ts'
import { finishDelivery } from './outcomes-store.ts'
import { lockDueEndpoints, type ClaimBounds } from './queue-store.ts'
import { releaseDeliveries } from './release-deliveries.ts'
import { rotateSecret } from './rotate-secret.ts'

const MINUTE_MS = 60_000

describe('claiming deliveries', () => {
  let given: TestContext
  let ctx: Context
  let another: Context
  let workspace: Workspace
  before(async () => {
    given = await openTestContext()
    ctx = given.context
    another = given.openAnother()
    await openConnections(ctx.db, another.db)
  })
  beforeEach(async () => {
    await clearQueues(ctx)
    workspace = await makeWorkspace(ctx)
  })
  after(() => given.close())

  test('nothing is claimed if nothing is due or the limit is zero', async () => {
    assert.deepEqual(await claim(ctx), [])
    await makeEndpoint(ctx, workspace)
    await announce(ctx, workspace, { createdAt: new Date(ctx.clock.now().getTime() + MINUTE_MS) })
    assert.deepEqual(await claim(ctx), [])
    assert.equal((await claim(later(ctx, MINUTE_MS), { limit: 0 })).length, 0)
    assert.equal((await claim(later(ctx, MINUTE_MS))).length, 1)
  })

  test('a claim contains everything that the attempt needs', async () => {
    const { endpoint, secret } = await makeEndpoint(ctx, workspace)
    const event = await announce(ctx, workspace)
    const now = ctx.clock.now()
    const claimed = await claimOne(frozenAt(ctx, now))
    assert.deepEqual(claimed.delivery, await readDelivery(ctx, claimed.delivery))
    assert.deepEqual(
      { ...claimed, delivery: null },
      {
        delivery: null,
        holder: workspace.id,
        leasedUntil: new Date(now.getTime() + LEASE_MS),
        url: endpoint.url,
        secrets: [secret],
        body:
          `{"id":"${event.id}","type":"payment.confirmed","created_at":"${event.createdAt.toISOString()}","mode":"test",` +
          `"account_slug":"${workspace.slug}",` +
          `"data":${JSON.stringify(event.data)}}`,
        attemptNumber: 1,
      },
    )
  })

  test('the body is the same at each attempt, byte for byte', async () => {
    await makeEndpoint(ctx, workspace)
    await announce(ctx, workspace, {
      data: { payment: { b: '\u2028"\\', a: 1e21, '10': 1, '9': 2, long: 'ß'.repeat(300) } },
    })
    const first = await claimOne(ctx)
    await finish(ctx, first, 500)
    const second = await claimOne(later(ctx, 2 * MINUTE_MS))
    assert.equal(second.attemptNumber, 2)
    assert.equal(second.body, first.body)
    assert.ok(first.body.includes('"b":"\u2028\\"\\\\","a":1e+21'))
  })

  test('the oldest delivery to an endpoint comes first', async () => {
    await makeEndpoint(ctx, workspace)
    const from = new Date(ctx.clock.now().getTime() - MINUTE_MS)
    await announceMany(ctx, workspace, { count: 10, from })
    const times = async () => (await claim(ctx)).map(({ delivery }) => delivery.createdAt.getTime() - from.getTime())
    assert.deepEqual(await times(), [0, 1, 2, 3])
    assert.deepEqual(await times(), [])
  })

  test('deliveries in flight to an endpoint are limited; an attempt that ends makes room', async () => {
    await makeEndpoint(ctx, workspace)
    await announceMany(ctx, workspace, { count: 6, from: new Date(ctx.clock.now().getTime() - MINUTE_MS) })
    const [first, ...others] = await claim(ctx, { inFlightMax: 3 })
    assert.equal(others.length, 2)
    assert.equal((await claim(another, { inFlightMax: 3 })).length, 0)
    await finish(ctx, first as ClaimedDelivery, 200)
    assert.equal((await claim(another, { inFlightMax: 3 })).length, 1)
    assert.equal((await claim(ctx, { inFlightMax: 3 })).length, 0)
  })

  test('an endpoint with 1,000 due deliveries does not delay an endpoint with one', async () => {
    await makeEndpoint(ctx, workspace)
    await announceMany(ctx, workspace, { count: 1_000, from: new Date(ctx.clock.now().getTime() - 10 * MINUTE_MS) })
    const quiet = await makeWorkspace(ctx)
    const { endpoint } = await makeEndpoint(ctx, quiet)
    await announce(ctx, quiet)
    const claimed = await claim(ctx, { limit: 2 })
    assert.equal(claimed.length, 2)
    assert.ok(claimed.some(({ delivery }) => delivery.endpointId === endpoint.id))
  })

  test('each endpoint gets one delivery before any gets a second, and those with the fewest in flight come first', async () => {
    const workspaces = await Promise.all([1, 2, 3].map(() => makeWorkspace(ctx)))
    const from = new Date(ctx.clock.now().getTime() - MINUTE_MS)
    for (const one of workspaces) {
      await makeEndpoint(ctx, one)
      await announceMany(ctx, one, { count: 5, from })
    }
    const first = await claim(ctx, { limit: 4 })
    assert.deepEqual(countBy(first), [1, 1, 2])
    const second = await claim(another, { limit: 2 })
    assert.deepEqual(countBy([...first, ...second]), [2, 2, 2])
  })

  test('fifty concurrent claims by two processes claim no delivery twice, and not too many of one endpoint', async () => {
    const workspaces = await Promise.all([1, 2, 3, 4].map(() => makeWorkspace(ctx)))
    const from = new Date(ctx.clock.now().getTime() - MINUTE_MS)
    for (const one of workspaces) {
      await makeEndpoint(ctx, one)
      await announceMany(ctx, one, { count: 30, from })
    }
    const seen = new Set<string>()
    for (let round = 0; seen.size < 120; round += 1) {
      assert.ok(round < 120, 'the claims come to no end')
      const claims = Array.from({ length: 50 }, (_, index) => claim(index % 2 === 0 ? ctx : another, { limit: 7 }))
      const claimed = (await Promise.all(claims)).flat()
      for (const { delivery } of claimed) {
        assert.ok(!seen.has(delivery.id), 'a delivery was claimed twice')
        seen.add(delivery.id)
      }
      for (const count of countBy(claimed)) assert.ok(count <= 4, `${count} under way to one endpoint`)
      await Promise.all(claimed.map((one) => finish(ctx, one, 200)))
    }
    assert.deepEqual(await claim(ctx), [])
  })

  test('while claims and finishing attempts race, never more than four are in flight to an endpoint', async () => {
    await makeEndpoint(ctx, workspace)
    await announceMany(ctx, workspace, { count: 100, from: new Date(ctx.clock.now().getTime() - MINUTE_MS) })
    let underWay = 0
    let done = 0
    const work = async (mine: Context): Promise<void> => {
      while (done < 100) {
        const claimed = await claim(mine, { limit: 3 })
        underWay += claimed.length
        assert.ok(underWay <= 4, `${underWay} under way`)
        for (const one of claimed) {
          // Count the attempt as ended before its outcome is recorded, because another worker may claim the next
          // delivery as soon as the outcome is recorded.
          underWay -= 1
          await finish(mine, one, 200)
          done += 1
        }
      }
    }
    await Promise.all([work(ctx), work(another), work(ctx), work(another)])
    assert.equal(done, 100)
  })

  test('after a lease has expired, the next worker neither skips nor repeats an attempt', async () => {
    await makeEndpoint(ctx, workspace)
    await announce(ctx, workspace)
    const frozen = frozenAt(ctx, ctx.clock.now())
    const lost = await claimOne(frozen)
    assert.deepEqual(await claim(later(frozen, LEASE_MS - 1)), [])
    const taken = await claimOne(later(frozen, LEASE_MS))
    assert.equal(taken.delivery.id, lost.delivery.id)
    assert.equal(taken.attemptNumber, 1)
    assert.deepEqual(await claim(later(frozen, LEASE_MS)), [])
  })

  test('a worker whose lease has expired records nothing, neither while another worker has the delivery nor after', async () => {
    const { endpoint } = await makeEndpoint(ctx, workspace)
    await announce(ctx, workspace)
    const lost = await claimOne(ctx)
    const taken = await claimOne(later(another, LEASE_MS))
    const before = await getDelivery(ctx, taken.delivery)
    await finishAttempts(ctx, [{ claimed: lost, outcome: outcomeOf(ctx, { statusCode: 410 }) }])
    assert.deepEqual(await getDelivery(ctx, taken.delivery), before)
    assert.equal((await finish(another, taken, 200)).status, 'succeeded')
    const finished = await getDelivery(ctx, taken.delivery)
    await finishAttempts(ctx, [{ claimed: lost, outcome: outcomeOf(ctx, { statusCode: 500 }) }])
    await finishAttempts(ctx, [{ claimed: taken, outcome: outcomeOf(ctx, { statusCode: 500 }) }])
    assert.deepEqual(await getDelivery(ctx, taken.delivery), finished)
    assert.equal(finished.attempts.length, 1)
    const [row] = await readRows(ctx.db, 'select failing_since, disabled_at from webhook_endpoints where id = $1', [
      endpoint.id,
    ])
    assert.deepEqual(row, { failing_since: null, disabled_at: null })
  })

  test('a claim skips a delivery whose outcome is just being written', async () => {
    await makeEndpoint(ctx, workspace)
    await announceMany(ctx, workspace, { count: 2, from: new Date(ctx.clock.now().getTime() - MINUTE_MS) })
    const [late, second] = (await claim(ctx)) as [ClaimedDelivery, ClaimedDelivery]
    const outcome = outcomeOf(ctx)
    const verdict = { step: { status: 'succeeded', nextAttemptAt: null }, endedAt: outcome.startedAt } as const
    const write = finishDelivery(late, outcome, {
      ...verdict,
      isGone: false,
      hangs: false,
      failingSinceMax: new Date(0),
    })
    await ctx.db.transaction(async (transaction) => {
      await transaction.run(write)
      const taken = await claimOne(later(another, LEASE_MS))
      assert.equal(taken.delivery.id, second.delivery.id)
    })
    assert.equal((await readDelivery(ctx, late.delivery)).status, 'succeeded')
  })

  test('a released delivery can be claimed at once; an expired lease cannot be released', async () => {
    await makeEndpoint(ctx, workspace)
    await announceMany(ctx, workspace, { count: 3, from: new Date(ctx.clock.now().getTime() - MINUTE_MS) })
    const claimed = await claim(ctx)
    await releaseDeliveries(ctx, [])
    await releaseDeliveries(ctx, claimed)
    const again = await claim(later(another, 1_000))
    assert.deepEqual(
      again.map(({ delivery, attemptNumber }) => [delivery.id, attemptNumber]),
      claimed.map(({ delivery }) => [delivery.id, 1]),
    )
    await releaseDeliveries(ctx, claimed)
    assert.deepEqual(await claim(ctx), [])
  })

  test('nothing is sent to an endpoint that is disabled or deleted meanwhile', async () => {
    const disabled = await makeEndpoint(ctx, workspace)
    const deleted = await makeEndpoint(ctx, workspace)
    await announce(ctx, workspace)
    await changeEndpoint(ctx, {
      workspaceId: workspace.id,
      id: disabled.endpoint.id,
      change: { enabled: false },
      actor: OPERATOR,
    })
    await deleteEndpoint(ctx, { workspaceId: workspace.id, id: deleted.endpoint.id, actor: OPERATOR })
    assert.deepEqual(await claim(ctx), [])
    await changeEndpoint(ctx, {
      workspaceId: workspace.id,
      id: disabled.endpoint.id,
      change: { enabled: true },
      actor: OPERATOR,
    })
    assert.equal((await claimOne(ctx)).delivery.endpointId, disabled.endpoint.id)
  })

  test('after a rotation, deliveries queued before or later are signed with both secrets, and after 24 hours with the new one', async () => {
    const { endpoint, secret } = await makeEndpoint(ctx, workspace)
    const subject = { workspaceId: workspace.id, id: endpoint.id }
    await announce(ctx, workspace)
    const frozen = frozenAt(ctx, ctx.clock.now())
    const { secret: second } = await rotateSecret(frozen, { ...subject, actor: OPERATOR })
    const secretsAfter = async (milliseconds: number) => {
      const claimed = await claimOne(later(frozen, milliseconds))
      await releaseDeliveries(ctx, [claimed])
      return claimed.secrets
    }
    assert.deepEqual(await secretsAfter(0), [second, secret])
    assert.deepEqual(await secretsAfter(ROTATION_OVERLAP_MS - 1), [second, secret])
    assert.deepEqual(await secretsAfter(ROTATION_OVERLAP_MS), [second])
    const { secret: third } = await rotateSecret(later(frozen, MINUTE_MS), { ...subject, actor: OPERATOR })
    assert.deepEqual(await secretsAfter(2 * MINUTE_MS), [third, second])
  })

  test('a delivery is sent to the current URL of its endpoint', async () => {
    const { endpoint } = await makeEndpoint(ctx, workspace)
    await announce(ctx, workspace)
    const url = 'https://moved.example/'
    await changeEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id, change: { url }, actor: OPERATOR })
    assert.equal((await claimOne(ctx)).url, url)
  })

  test('an endpoint with an unreadable secret does not hold up others', async () => {
    const broken = await makeEndpoint(ctx, workspace)
    const { endpoint } = await makeEndpoint(ctx, workspace)
    await readRows(ctx.db, `update webhook_endpoints set secret_sealed = '\\x00' where id = $1`, [broken.endpoint.id])
    await announce(ctx, workspace)
    assert.equal((await claimOne(ctx)).delivery.endpointId, endpoint.id)
  })

  test('wherever a claim starts and however few endpoints it examines, each endpoint has its turn', async () => {
    const workspaces = [workspace, await makeWorkspace(ctx), await makeWorkspace(ctx)]
    for (const one of workspaces) {
      await makeEndpoint(ctx, one)
      await announce(ctx, one)
    }
    const ids = workspaces.map(({ id }) => id).toSorted()
    const look = async (workspaceId: string, hopsMax: number): Promise<string[]> => {
      const { endpoints } = await ctx.db.transaction((transaction) =>
        transaction.run(lockDueEndpoints(boundsNow(), { start: { workspaceId, id: '' }, hopsMax })),
      )
      return endpoints.map((endpoint) => endpoint.workspaceId)
    }
    for (const start of ['', 'acc_0', ...ids.map((id) => id.slice(0, -1)), ...ids, 'acc_Z']) {
      assert.deepEqual((await look(start, 10)).toSorted(), ids, start)
    }
    const [first, second, third] = ids.map((id) => id.slice(0, -1))
    assert.deepEqual(await look(first ?? '', 1), [ids[0]])
    assert.deepEqual(await look(second ?? '', 1), [ids[1]])
    assert.deepEqual((await look(third ?? '', 3)).toSorted(), [ids[0], ids[2]])
  })

  test('a claim continues where the last one stopped, so thousands of idle queues do not hide another queue', async () => {
    const workspaces = await Promise.all(Array.from({ length: 5 }, () => makeWorkspace(ctx)))
    for (const one of workspaces) {
      await makeEndpoint(ctx, one)
      await announce(ctx, one)
    }
    const seen: string[] = []
    let start = { workspaceId: '', id: '' }
    for (let looks = 0; looks < 8; looks += 1) {
      const look = lockDueEndpoints(boundsNow(), { start, hopsMax: 2 })
      const { endpoints, last } = await ctx.db.transaction((transaction) => transaction.run(look))
      seen.push(...endpoints.map(({ workspaceId }) => workspaceId))
      start = last
    }
    for (const { id } of workspaces) assert.ok(seen.filter((workspaceId) => workspaceId === id).length >= 2, id)
  })

  test('2,040 disabled endpoints delay the deliveries of another endpoint by one or two claims at most', async () => {
    // Adds 2,040 disabled endpoints with one pending delivery each. One claim examines at most 2,000 endpoints.
    const idle = await makeWorkspace(ctx)
    await makeEndpoint(ctx, idle)
    const { id: eventId } = await announce(ctx, idle)
    await clearQueues(ctx)
    await readRows(
      ctx.db,
      `with copies as (
          insert into webhook_endpoints
            (workspace_id, id, mode, url, events, secret_sealed, created_at, disabled_at, disabled_because)
          select workspace_id, 'whk_' || to_char(number, 'FM00000'), mode, url, events, secret_sealed, created_at, $2, 'owner'
          from webhook_endpoints cross join generate_series(1, 2040) as number where workspace_id = $1
          returning workspace_id, id, mode
        )
        insert into deliveries
          (workspace_id, id, mode, endpoint_id, event_id, event_type, trigger, status, next_attempt_at, created_at)
        select workspace_id, 'dlv_' || id, mode, id, $3, 'payment.created', 'event', 'pending', $2, $2 from copies`,
      [idle.id, ctx.clock.now(), eventId],
    )
    // This endpoint sorts after the disabled ones.
    const healthy = await makeWorkspace(ctx)
    await makeEndpoint(ctx, healthy)
    await announce(ctx, healthy)
    const claimed = []
    for (let claims = 0; claims < 3; claims += 1) claimed.push(...(await claim(ctx)))
    assert.deepEqual(
      claimed.map(({ delivery }) => delivery.workspaceId),
      [healthy.id],
    )
  })

  function boundsNow(): ClaimBounds {
    return { now: ctx.clock.now(), hangs: false, inFlightMax: 4, limit: 10, places: ALL_FREE }
  }
})

/** Counts the deliveries of each endpoint, and returns these counts in ascending order. */
function countBy(claimed: readonly ClaimedDelivery[]): number[] {
  const counts = new Map<string, number>()
  for (const { delivery } of claimed) counts.set(delivery.endpointId, (counts.get(delivery.endpointId) ?? 0) + 1)
  return [...counts.values()].toSorted((left, right) => left - right)
}
