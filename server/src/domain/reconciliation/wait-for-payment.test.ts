import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { seedManyPayments, seedPayment } from '../../../../test/support/context/payment-rows.ts'
import { seed } from '../../../../test/support/context/seed.ts'
import { readPlan } from '../../../../test/support/database/read-plan.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { openPools } from '../../lib/pools.ts'
import { failPayment } from '../payments/fail-payment.ts'
import type { Payment } from '../payments/payment.ts'
import { listSettled } from './reconciliation-store.ts'
import { openPaymentWaits, waitForPayment } from './wait-for-payment.ts'

const PATIENT_MS = 40_000
const NEVER = new AbortController().signal

describe('waitForPayment', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  beforeEach(() => {
    given.chains.test.down = false
  })
  after(() => given.close())

  test('all callers get the payment when another process settles it', async () => {
    const seeded = await seed(given.context)
    const payment = await seedPayment(given.context, seeded)
    const waits = Array.from({ length: 50 }, () => wait(payment, PATIENT_MS))
    await waitFor('50 callers', () => given.context.paymentWaits.waiting === 50)
    await failPayment(given.openAnother(), { payment, code: 'never_received' })
    for (const settled of await Promise.all(waits)) {
      assert.deepEqual([settled.status, settled.failureCode], ['failed', 'never_received'])
    }
    assert.equal(given.context.paymentWaits.waiting, 0)
  })

  test('a payment that is settled already, or that the chain settles now, is returned at once', async () => {
    const seeded = await seed(given.context)
    const failed = await seedPayment(given.context, seeded, { status: 'failed' })
    assert.equal((await wait(failed, PATIENT_MS)).status, 'failed')
    const mined = await seedPayment(given.context, seeded, { txHash: `0x${'7'.repeat(64)}` })
    given.chains.test.receipts.set(`0x${'7'.repeat(64)}`, {
      contract: given.config.chains.test.usdc,
      from: mined.walletAddress,
      to: mined.to,
      amountMicro: mined.amountMicro,
      blockNumber: given.chains.test.head,
    })
    assert.equal((await wait(mined, PATIENT_MS)).status, 'confirmed')
  })

  test('after its time, and without one, a caller gets the payment as it stands, even if the chain is unreachable', async () => {
    const seeded = await seed(given.context)
    const payment = await seedPayment(given.context, seeded, { txHash: `0x${'8'.repeat(64)}` })
    given.chains.test.down = true
    for (const waitMs of [0, 30]) assert.equal((await wait(payment, waitMs)).status, 'pending')
  })

  test('while the callers of one workspace take half of the places, its next caller does not wait, and others still can', async () => {
    const [seeded, other] = [await seed(given.context), await seed(given.context)]
    const [payment, foreign] = [await seedPayment(given.context, seeded), await seedPayment(given.context, other)]
    const controller = new AbortController()
    const pools = openPools({ paymentWaits: { placesMax: 20 } })
    const context = { ...given.context, paymentWaits: openPaymentWaits({ ...given.context, pools }) }
    const waitFew = ({ workspaceId, mode, id }: Payment) =>
      waitForPayment(context, { workspaceId, mode, id, waitMs: PATIENT_MS, signal: controller.signal })
    const waits = Array.from({ length: 10 }, () => waitFew(payment))
    await waitFor('10 callers', () => context.paymentWaits.waiting === 10)
    assert.equal((await waitFew(payment)).status, 'pending')
    waits.push(waitFew(foreign))
    await waitFor('a caller of another workspace', () => context.paymentWaits.waiting === 11)
    controller.abort()
    for (const { status } of await Promise.all(waits)) assert.equal(status, 'pending')
  })

  test('waiting holds no connection: with as many callers as there are, a transaction still runs', async () => {
    const seeded = await seed(given.context)
    const payment = await seedPayment(given.context, seeded)
    const controller = new AbortController()
    const waits = Array.from({ length: 60 }, () => wait(payment, PATIENT_MS, controller.signal))
    await waitFor('60 callers', () => given.context.paymentWaits.waiting === 60)
    const other = await seedPayment(given.context, seeded)
    assert.equal((await failPayment(given.context, { payment: other, code: 'never_received' })).status, 'failed')
    controller.abort()
    await Promise.all(waits)
  })

  test('an unknown payment is 404, and so is a payment of another kind', async () => {
    const seeded = await seed(given.context)
    const withdrawal = await seedPayment(given.context, seeded, { kind: 'withdrawal' })
    const place = { workspaceId: seeded.workspace.id, mode: 'test', waitMs: PATIENT_MS, signal: NEVER } as const
    for (const id of ['pay_1', withdrawal.id]) {
      await assert.rejects(waitForPayment(given.context, { ...place, id, ofAgents: true }), { type: 'not_found' })
    }
  })

  test('the poll looks up each payment by the primary key, among many other payments', async () => {
    const seeded = await seed(given.context)
    await seedManyPayments(given.context, seeded, { count: 2_000, before: given.clock.now() })
    const plan = await readPlan(given.context.db, ['payments'], listSettled([{ group: 'a', id: 'b' }]))
    assert.match(plan, /Index Scan using payments_pkey on payments/)
    assert.match(plan, /Index Cond: \(\(workspace_id = wanted.workspace_id\) AND \(id = wanted.id\)\)/)
    assert.doesNotMatch(plan, /Seq Scan|Hash|Sort/)
  })

  async function wait(
    { workspaceId, mode, id }: { workspaceId: string; mode: 'test' | 'live'; id: string },
    waitMs: number,
    signal: AbortSignal = NEVER,
  ) {
    return await waitForPayment(given.context, { workspaceId, mode, id, ofAgents: true, waitMs, signal })
  }
})
