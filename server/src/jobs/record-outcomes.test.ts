import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  announceMany,
  claim,
  clearQueues,
  makeWorkspace,
  makeEndpoint,
  outcomeOf,
  readDelivery,
} from '../../../test/support/context/delivery-rows.ts'
import { openConnections, readRows } from '../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { Context } from '../domain/context.ts'
import type { AttemptOutcome, ClaimedDelivery } from '../domain/webhooks/delivery.ts'
import { HANGING_MS } from '../domain/webhooks/endpoint.ts'
import { createOutcomeRecorder, type AttemptToRecord } from './record-outcomes.ts'

const MINUTE_MS = 60_000
/** A response of this many bytes is too large for the database. */
const RESPONSE_BYTES_TOO_MANY = 16 * 1024 + 1

describe('recording outcomes', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
    await openConnections(ctx.db)
  })
  beforeEach(() => clearQueues(ctx))
  after(() => given.close())

  /** Creates an endpoint in a workspace of its own, and claims this many deliveries to it. */
  async function claimSome(count: number): Promise<ClaimedDelivery[]> {
    const workspace = await makeWorkspace(ctx)
    await makeEndpoint(ctx, workspace)
    await announceMany(ctx, workspace, { count, from: new Date(ctx.clock.now().getTime() - MINUTE_MS) })
    return await claim(ctx, { inFlightMax: count })
  }

  function ended(claimed: ClaimedDelivery | undefined, changes: Partial<AttemptOutcome> = {}): AttemptToRecord {
    assert.ok(claimed !== undefined)
    return { latest: () => claimed, outcome: outcomeOf(ctx, changes) }
  }

  async function readStatus(claimed: ClaimedDelivery | undefined): Promise<string> {
    assert.ok(claimed !== undefined)
    return (await readDelivery(ctx, claimed.delivery)).status
  }

  test('is one transaction for all outcomes that arrive in one turn of the event loop, but for at most 64', async () => {
    const claimed = [...(await claimSome(60)), ...(await claimSome(60))]
    const recorder = createOutcomeRecorder(ctx)
    await Promise.all(claimed.map((one) => recorder.record(ended(one))))
    const rows = await readRows(
      ctx.db,
      'select xmin::text as transaction, count(*)::integer as count from deliveries where id = any ($1) group by 1',
      [claimed.map(({ delivery }) => delivery.id)],
    )
    const counts = rows.map((row) => Number(row['count'])).toSorted((left, right) => right - left)
    assert.deepEqual(counts, [64, 56])
  })

  test('does not wait for a batch that waits for a locked endpoint', async () => {
    const [[slow], [prompt]] = [await claimSome(1), await claimSome(1)]
    assert.ok(slow !== undefined)
    const recorder = createOutcomeRecorder(ctx)
    let isRecorded = false
    let recording: Promise<void> = Promise.resolve()
    await ctx.db.transaction(async (transaction) => {
      const { workspaceId, endpointId } = slow.delivery
      const text = 'select 1 from webhook_endpoints where workspace_id = $1 and id = $2 for no key update'
      await transaction.run({ name: '', text, values: [workspaceId, endpointId], read: () => null })
      // This outcome changes the endpoint, so it waits for the lock.
      recording = recorder.record(ended(slow, { durationMs: HANGING_MS })).then(() => {
        isRecorded = true
      })
      const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await waitFor('the batch to wait', async () => (await readRows(ctx.db, waits, [])).length > 0)
      await recorder.record(ended(prompt))
      assert.equal(await readStatus(prompt), 'succeeded')
      assert.equal(isRecorded, false)
    })
    await recording
    assert.equal(await readStatus(slow), 'succeeded')
  })

  test('fails for an outcome that cannot be recorded, and records the others of its batch', async () => {
    const [[good], [bad]] = [await claimSome(1), await claimSome(1)]
    const recorder = createOutcomeRecorder(ctx)
    const attempts = [ended(good), ended(bad, { responseBody: Buffer.alloc(RESPONSE_BYTES_TOO_MANY) })] as const
    const outcomes = await Promise.allSettled(attempts.map((attempt) => recorder.record(attempt)))
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    )
    assert.deepEqual([await readStatus(good), await readStatus(bad)], ['succeeded', 'pending'])
  })

  test('uses the claim that is valid when the outcome is written', async () => {
    const [first] = await claimSome(1)
    assert.ok(first !== undefined)
    let current: ClaimedDelivery = first
    const recorder = createOutcomeRecorder(ctx)
    const recording = recorder.record({ latest: () => current, outcome: outcomeOf(ctx) })
    // The batch is written in a later turn of the event loop, so the write uses this changed delivery.
    current = { ...first, leasedUntil: new Date(first.leasedUntil.getTime() + 1) }
    await recording
    assert.equal(await readStatus(first), 'pending')
    current = first
    await recorder.record({ latest: () => current, outcome: outcomeOf(ctx) })
    assert.equal(await readStatus(first), 'succeeded')
  })
})
