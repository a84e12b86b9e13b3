import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectPayment, expectRefusal } from '../../../../test/support/context/expect-outcome.ts'
import { RECIPIENT, address, paymentRequest, seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createPayment } from './create-payment.ts'
import { replayPayment } from './replay-payment.ts'

describe('idempotency keys', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('the same key with a different body returns the first payment unchanged', async () => {
    const seeded = await seed(given.context)
    const first = expectPayment(await pay(seeded, { amountUsdc: '1.50', memo: 'first' }), 'created')
    const other = address(`0x${'9'.repeat(40)}`)
    const second = expectPayment(await pay(seeded, { amountUsdc: '2', memo: 'second', to: other }), 'replayed')
    assert.deepEqual(second, { ...first, attemptUntil: second.attemptUntil })
    assert.deepEqual([second.amountUsdc, second.memo, second.to], ['1.50', 'first', RECIPIENT])
  })

  test('a known key is looked up before any limit is checked', async () => {
    const seeded = await seed(given.context, { dailyCap: '1', maxPerTx: '1' })
    const first = expectPayment(await pay(seeded, {}), 'created')
    const changes = { amountUsdc: '500', agentId: 'nobody' as typeof seeded.agentId }
    assert.equal(expectPayment(await pay(seeded, changes), 'replayed').id, first.id)
  })

  test('the same key in another workspace or mode creates another payment', async () => {
    const [left, right] = [await seed(given.context), await seed(given.context)]
    const live = await seed(given.context, { mode: 'live' })
    const payments = [left, right, live].map(async (seeded) => expectPayment(await pay(seeded, {}), 'created'))
    assert.equal(new Set((await Promise.all(payments)).map(({ id }) => id)).size, 3)
    const sameWorkspace = { workspaceId: left.workspace.id, idempotencyKey: 'key' }
    assert.equal(await replayPayment(given.context, { ...sameWorkspace, mode: 'live', boundAgentId: null }), null)
    assert.ok((await replayPayment(given.context, { ...sameWorkspace, mode: 'test', boundAgentId: null })) !== null)
  })

  test('a refused request creates no payment, so its key can be used again', async () => {
    const seeded = await seed(given.context, { maxPerTx: '1' })
    expectRefusal(await pay(seeded, { amountUsdc: '2' }), 'amount_too_large')
    expectPayment(await pay(seeded, { amountUsdc: '1' }), 'created')
  })

  test('while the chain is unavailable, a known key still returns its payment, and a request with a new key fails', async () => {
    const seeded = await seed(given.context)
    const first = expectPayment(await pay(seeded, {}), 'created')
    given.chains.test.down = true
    given.clock.setOffset(5_000)
    try {
      await assert.rejects(pay(seeded, { idempotencyKey: 'new' }), { name: 'ChainUnavailable' })
      assert.equal(expectPayment(await pay(seeded, {}), 'replayed').id, first.id)
    } finally {
      given.chains.test.down = false
      given.clock.setOffset(0)
    }
  })

  function pay(seeded: Parameters<typeof paymentRequest>[0], changes: Parameters<typeof paymentRequest>[1]) {
    return createPayment(given.context, paymentRequest(seeded, { idempotencyKey: 'key', ...changes }))
  }
})
