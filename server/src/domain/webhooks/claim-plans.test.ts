import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  ALL_FREE,
  announce,
  clearQueues,
  makeWorkspace,
  makeEndpoint,
} from '../../../../test/support/context/delivery-rows.ts'
import { runUnlimited } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Query, RawRow } from '../../db/query.ts'
import type { Context } from '../context.ts'
import { ENDPOINTS_MAX } from './endpoint.ts'
import { lockDueDeliveries, lockDueEndpoints, type ClaimBounds } from './queue-store.ts'

const SHORT_QUEUE = 30
const LONG_QUEUE = 3_000
/**
 * With a long queue, a claim may read at most this many times as many pages as with a short queue. The factor is above
 * 1, because a longer index can be one level deeper.
 */
const PAGES_RATIO_MAX = 1.5
const BEFORE_ALL = { workspaceId: '', id: '' }

describe('the plans of a claim', () => {
  let given: TestContext
  let ctx: Context
  let bounds: ClaimBounds
  before(async () => {
    given = await openTestContext()
    ctx = given.context
    bounds = { now: ctx.clock.now(), hangs: false, inFlightMax: 4, limit: 100, places: ALL_FREE }
  })
  after(() => given.close())

  test('every step of a claim uses an index', async () => {
    const start = { workspaceId: 'acc_0', id: '' }
    const due = await explain(lockDueEndpoints(bounds, { start, hopsMax: 10 }).text)
    assert.match(
      due,
      /Limit\n\s+-> {2}Index (?:Only )?Scan using deliveries_due .*\n\s+Index Cond: \(ROW\(workspace_id, endpoint_id\) > ROW/,
    )
    assert.match(due, /Scan using deliveries_leased .*\n\s+Index Cond: \(\(workspace_id = .*endpoint_id = /)
    const leased = await explain(lockDueDeliveries(bounds, []).text)
    assert.match(leased, /Scan using deliveries_leased .*\n\s+Index Cond: \(\(workspace_id = .*endpoint_id = /)
    assert.match(
      leased,
      /Limit\n\s+-> {2}LockRows\n\s+-> {2}Index Scan using deliveries_due .*\n\s+Index Cond: \(\(workspace_id = .*endpoint_id = .*next_attempt_at <= /,
    )
    for (const plan of [due, leased]) {
      // Every connection has `enable_sort=off` (decision 0038), so a plan marks each sort as disabled. The few rows
      // here must be sorted.
      assert.doesNotMatch(plan, /Seq Scan|Bitmap|(?<!Sort\n *)Disabled|Hash|Merge|Materialize/)
      // Each scan of a table has an index condition.
      assert.equal(plan.match(/Index Cond:/g)?.length, plan.match(/Index (?:Only )?Scan/g)?.length, plan)
    }
  })

  test('a claim reads equally few pages whether other queues are long or short', async () => {
    const stranger = await makeWorkspace(ctx)
    for (let made = 0; made < ENDPOINTS_MAX; made += 1) await makeEndpoint(ctx, stranger)
    const { id: eventId } = await announce(ctx, stranger)
    await clearQueues(ctx)
    const pages: number[] = []
    for (const length of [SHORT_QUEUE, LONG_QUEUE]) {
      await runUnlimited(
        given.config.database.url,
        `insert into deliveries
            (workspace_id, id, mode, endpoint_id, event_id, event_type, trigger, status, next_attempt_at, created_at)
          select workspace_id, 'dlv_' || $3 || '_' || number || id, mode, id, $2, 'payment.created', 'event', 'pending',
            $4::timestamptz - interval '1 second' * number, $4
          from webhook_endpoints cross join generate_series(1, $3::integer) as number where workspace_id = $1`,
        [stranger.id, eventId, length, ctx.clock.now()],
      )
      bounds = { ...bounds, now: ctx.clock.now() }
      pages.push(await countPages())
    }
    const [short = 0, long = 0] = pages
    assert.ok(short > 0 && long <= short * PAGES_RATIO_MAX, `${short} pages, then ${long}`)
  })

  /** Returns how many pages the two statements of a claim read, after a first run has cached the pages. */
  async function countPages(): Promise<number> {
    const look = lockDueEndpoints(bounds, { start: BEFORE_ALL, hopsMax: 2_000 })
    let pages = 0
    for (let times = 0; times < 2; times += 1) {
      await ctx.db.transaction(async (transaction) => {
        const { endpoints } = await transaction.run(look)
        assert.equal(endpoints.length, ENDPOINTS_MAX)
        const take = lockDueDeliveries(bounds, endpoints)
        pages = (await transaction.run(explainRun(look))) + (await transaction.run(explainRun(take)))
        await transaction.rollback()
      })
    }
    return pages
  }

  /** Returns the generic plan of a query. */
  async function explain(text: string): Promise<string> {
    const lines = (rows: readonly RawRow[]) => rows.map((row) => String(row['QUERY PLAN'])).join('\n')
    const query = { name: '', text: `explain (generic_plan, costs off) ${text}`, values: [], read: lines }
    return await ctx.db.transaction((transaction) => transaction.run(query))
  }
})

/** Runs a query and returns how many pages it read. */
function explainRun({ text, values }: Query<unknown>): Query<number> {
  const pages = (rows: readonly RawRow[]): number => {
    const explained = rows[0]?.['QUERY PLAN'] as { Plan: Record<string, number> }[] | undefined
    const plan = explained?.[0]?.Plan
    return Number(plan?.['Shared Hit Blocks']) + Number(plan?.['Shared Read Blocks'])
  }
  return { name: '', text: `explain (analyze, buffers, format json) ${text}`, values, read: pages }
}
