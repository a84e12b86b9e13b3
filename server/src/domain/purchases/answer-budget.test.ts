import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { buyAs, offerOf, seedBuyer } from '../../../../test/support/context/seed-buyer.ts'
import type { Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { startFakeSeller, type FakeSeller } from '../../../../test/support/wires/fake-seller.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { ANSWER_RETENTION_MS, cleanUpOnce, RESERVED_BYTES_MS } from '../../jobs/clean-up.ts'
import { changePlan } from '../workspaces/change-plan.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { PLANS } from '../plans/plan.ts'
import { listRefusals } from '../refusals/queries.ts'
import { KEPT_ANSWER_BYTES_MAX } from './seal-purchase.ts'
import { ANSWER_BYTES_MAX } from './send-paid-request.ts'
import type { PurchaseState } from './work-on-purchase.ts'

const BUDGET = PLANS.developer.answerBytesMax.test

/** What sellers make a workspace keep has a budget (D93). */
describe('the responses of sellers', () => {
  let given: TestContext
  let seller: FakeSeller
  let other: Context
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
    other = given.openAnother()
  })
  beforeEach(async () => {
    given.enclave.behave = () => 'sign'
    given.enclave.authorizations.length = 0
    given.clock.setOffset(0)
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context, { maxTimeoutSeconds: 120 })]
  })
  afterEach(() => seller.close())
  after(() => given.close())

  test('are kept up to the budget, and then a purchase is refused before anything is signed', async () => {
    const buyer = await seedBuyer(given)
    const body = randomBytes(ANSWER_BYTES_MAX)
    seller.deliver = (response) => response.writeHead(200).end(body)
    await fillExcept(buyer, 3.5 * KEPT_ANSWER_BYTES_MAX)
    const outcomes: string[] = []
    for (const key of ['1', '2', '3', '4', '5']) {
      outcomes.push(await pay(given.context, buyer, key).then(({ purchase }) => purchase.delivery ?? '', codeOf))
    }
    assert.deepEqual(outcomes, ['delivered', 'delivered', 'delivered', 'storage_full', 'storage_full'])
    assert.equal(given.enclave.authorizations.length, 3)
    assert.equal(seller.paid.length, 3)
    const { kept, used } = await readBytes(buyer)
    assert.ok(kept > 3 * ANSWER_BYTES_MAX && kept <= 3 * KEPT_ANSWER_BYTES_MAX, String(kept))
    assert.equal(used, BUDGET - 3.5 * KEPT_ANSWER_BYTES_MAX + kept)
    // What was paid for stays, and a retry gets it.
    const again = await pay(other, buyer, '1')
    assert.deepEqual(Buffer.from(again.answer?.bodyBase64 ?? '', 'base64'), body)
    const refusals = await waitFor('the refusals to be stored', async () => {
      const place = { workspaceId: buyer.workspace.id, mode: 'test', before: null, limit: 5 } as const
      const { items } = await listRefusals(given.context, place)
      return items.length === 2 && items
    })
    assert.deepEqual(
      refusals.map(({ code, details, resourceUrl }) => ({ code, details, resourceUrl })),
      Array.from({ length: 2 }, () => ({
        code: 'storage_full',
        details: { used_bytes: used, budget_bytes: BUDGET },
        resourceUrl: `${seller.url}/goods`,
      })),
    )
  })

  test('of other workspaces and of the other mode have budgets of their own, and a larger plan has more room', async () => {
    const [full, free] = [await seedBuyer(given), await seedBuyer(given)]
    await fillExcept(full, 0)
    await fillExcept({ ...free, mode: 'live' }, 0)
    assert.equal((await pay(given.context, free, 'one')).purchase.delivery, 'delivered')
    assert.equal(await pay(given.context, full, 'one').catch(codeOf), 'storage_full')
    await changePlan(given.context, { workspace: full.workspace, plan: 'pro', actor: OPERATOR })
    assert.equal((await pay(given.context, full, 'one')).purchase.delivery, 'delivered')
  })

  test('have room that is reserved before they arrive, and what they do not need is given back', async () => {
    const buyer = await seedBuyer(given)
    const held: (() => void)[] = []
    seller.deliver = (response) => held.push(() => response.writeHead(200).end('goods'))
    const paying = pay(given.context, buyer, 'one')
    await waitFor('the seller to be paid', () => held.length === 1)
    assert.deepEqual(await readBytes(buyer), { used: KEPT_ANSWER_BYTES_MAX, kept: 0, reserved: KEPT_ANSWER_BYTES_MAX })
    for (const release of held) release()
    await paying
    const { used, kept, reserved } = await readBytes(buyer)
    assert.ok(used > 0 && used < 1_000, String(used))
    assert.deepEqual([kept, reserved], [used, 0])
  })

  test('for which two purchases in two processes want the last room: one is refused, and only the other is signed', async () => {
    const buyer = await seedBuyer(given)
    await fillExcept(buyer, KEPT_ANSWER_BYTES_MAX)
    const paying = await given.context.db.transaction(async (transaction) => {
      await transaction.run({
        name: 'hold_stored_bytes',
        text: `select from stored_bytes where workspace_id = $1 and kind = 'answers' for update`,
        values: [buyer.workspace.id],
        read: () => null,
      })
      // Both have read that there is room for one when they wait for this lock, or for each other.
      const both = [pay(given.context, buyer, 'a').catch(codeOf), pay(other, buyer, 'b').catch(codeOf)]
      await waitFor('both purchases to wait', async () => (await countWaiting()) >= 2)
      return { both }
    })
    const outcomes = await Promise.all(paying.both)
    assert.deepEqual(outcomes.filter((outcome) => outcome === 'storage_full').length, 1)
    assert.equal(given.enclave.authorizations.length, 1)
    const { used, kept } = await readBytes(buyer)
    assert.equal(used, BUDGET - KEPT_ANSWER_BYTES_MAX + kept)
  })

  test('that break off keep their room until the rest can come no more', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) =>
      response.writeHead(200, { 'content-length': 100 }).write('goo', () => response.destroy())
    assert.equal((await pay(given.context, buyer, 'one')).purchase.delivery, 'unknown')
    const broken = await readBytes(buyer)
    assert.ok(broken.kept > 0)
    assert.deepEqual([broken.used, broken.kept + broken.reserved], [KEPT_ANSWER_BYTES_MAX, KEPT_ANSWER_BYTES_MAX])
    await cleanUpAt(RESERVED_BYTES_MS - 60_000)
    assert.deepEqual(await readBytes(buyer), broken)
    given.clock.setOffset(0)
    seller.deliver = (response) => response.writeHead(200).end('all of the goods')
    assert.equal((await pay(other, buyer, 'one')).answer?.body, 'all of the goods')
    const whole = await readBytes(buyer)
    assert.deepEqual([whole.used, whole.reserved], [whole.kept, 0])
  })

  test('that never arrive give back their room after ten minutes, also if the payment failed', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => response.destroy()
    await pay(given.context, buyer, 'lost')
    given.enclave.behave = () => 'reject'
    await pay(given.context, buyer, 'refused')
    assert.equal((await readBytes(buyer)).used, 2 * KEPT_ANSWER_BYTES_MAX)
    await cleanUpAt(RESERVED_BYTES_MS - 60_000)
    assert.equal((await readBytes(buyer)).used, 2 * KEPT_ANSWER_BYTES_MAX)
    await cleanUpAt(RESERVED_BYTES_MS + 60_000)
    assert.deepEqual(await readBytes(buyer), { used: 0, kept: 0, reserved: 0 })
  })

  test('give back their room when they are deleted, after 24 hours and not before', async () => {
    const buyers = [await seedBuyer(given), await seedBuyer(given)] as const
    for (const buyer of buyers) for (const key of ['1', '2']) await pay(given.context, buyer, key)
    const before = await Promise.all(buyers.map(readBytes))
    assert.ok(before.every(({ used, kept }) => used > 0 && used === kept))
    await cleanUpAt(ANSWER_RETENTION_MS - 60_000)
    assert.deepEqual(await Promise.all(buyers.map(readBytes)), before)
    await cleanUpAt(ANSWER_RETENTION_MS + 60_000)
    const nothing = { used: 0, kept: 0, reserved: 0 }
    assert.deepEqual(await Promise.all(buyers.map(readBytes)), [nothing, nothing])
  })

  test('never need more than the room that is reserved, whatever they contain, and are returned as they came', async () => {
    const buyer = await seedBuyer(given)
    for (const [key, part] of ['\u0001', '"', '\u{1f600}', 'a'].entries()) {
      const body = part.repeat(ANSWER_BYTES_MAX / Buffer.byteLength(part))
      seller.deliver = (response) => response.writeHead(200, { 'x-quotes': '"'.repeat(15_000) }).end(body)
      await pay(given.context, buyer, String(key))
      assert.equal((await pay(other, buyer, String(key))).answer?.body, body)
    }
    const sizes = await readRows(
      given.context.db,
      'select octet_length(response_sealed) as size, kept_bytes from purchases where workspace_id = $1',
      [buyer.workspace.id],
    )
    assert.equal(sizes.length, 4)
    for (const { size, kept_bytes: kept } of sizes) {
      assert.ok(Number(size) <= KEPT_ANSWER_BYTES_MAX, String(size))
      assert.equal(kept, size)
    }
  })

  async function pay(ctx: Context, buyer: Seed, key: string): Promise<PurchaseState> {
    return await buyAs(ctx, buyer, { url: `${seller.url}/goods`, key })
  }

  /** Fills the budget of a workspace, except for some room. */
  async function fillExcept({ workspace, mode }: Pick<Seed, 'workspace' | 'mode'>, bytes: number): Promise<void> {
    await readRows(given.context.db, `insert into stored_bytes values ($1, $2, 'answers', $3, $4)`, [
      workspace.id,
      mode,
      BUDGET - bytes,
      BUDGET,
    ])
  }

  async function readBytes({ workspace }: Seed): Promise<{ used: number; kept: number; reserved: number }> {
    const [row] = await readRows(
      given.context.db,
      `select coalesce(sum(kept_bytes), 0) as kept, coalesce(sum(reserved_bytes), 0) as reserved,
        (select used_bytes from stored_bytes where workspace_id = $1 and mode = 'test' and kind = 'answers') as used
      from purchases where workspace_id = $1`,
      [workspace.id],
    )
    return { used: Number(row?.['used']), kept: Number(row?.['kept']), reserved: Number(row?.['reserved']) }
  }

  async function countWaiting(): Promise<number> {
    const text = `select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    const [row] = await readRows(given.context.db, text, [])
    return Number(row?.['waiting'])
  }

  async function cleanUpAt(offsetMs: number): Promise<void> {
    given.clock.setOffset(offsetMs)
    await cleanUpOnce(given.context, 'purchases')
  }
})

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code)
}
