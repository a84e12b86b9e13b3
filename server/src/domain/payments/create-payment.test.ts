import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openTestContext, type TestContext } from '../../../../test/support/test-context.ts'
import { paymentRequest, seed, seedWallet } from '../../../../test/support/seed.ts'
import { createPayment, type PaymentOutcome } from './create-payment.ts'

describe('createPayment', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('a payment within every limit is reserved, signed, and answered with its hash', async () => {
    const seeded = await seed(given.context)
    const outcome = await createPayment(given.context, paymentRequest(seeded, { amountUsdc: '1.50' }))
    assert.equal(outcome.kind, 'created')
    const { payment } = created(outcome)
    assert.equal(payment.status, 'pending')
    assert.equal(payment.amountUsdc, '1.50')
    assert.equal(payment.txHash, given.enclave.accepted.get(payment.id))
  })

  test('of 50 parallel payments against a cap that allows 7, exactly 7 are made', async () => {
    const seeded = await seed(given.context, { dailyCap: '7' })
    const outcomes = await inParallel(50, () => paymentRequest(seeded))
    assert.deepEqual(countKinds(outcomes), { created: 7, daily_cap_exceeded: 43 })
  })

  test('of 50 parallel payments against a balance that allows 7, exactly 7 are made', async () => {
    const seeded = await seed(given.context)
    given.chains.test.balances.set(seeded.wallet.toLowerCase(), 7_999_999n)
    const outcomes = await inParallel(50, () => paymentRequest(seeded))
    assert.deepEqual(countKinds(outcomes), { created: 7, insufficient_balance: 43 })
  })

  test('of 50 parallel live payments against an allowance that allows 7, exactly 7 are made', async () => {
    const seeded = await seed(given.context, { mode: 'live' })
    const month = given.clock.now().toISOString().slice(0, 7)
    await given.context.db.write({
      name: 'test_allowance',
      text: 'insert into allowances (account_id, month, used) values ($1, $2, 993)',
      values: [seeded.account.id, `${month}-01`],
      read: () => null,
    })
    const outcomes = await inParallel(50, () => paymentRequest(seeded))
    assert.deepEqual(countKinds(outcomes), { created: 7, plan_cap_exceeded: 43 })
  })

  test('50 parallel requests with one key over two processes make one record and one transfer, and 50 equal answers', async () => {
    const seeded = await seed(given.context)
    const before = given.enclave.requests.length
    const outcomes = await inParallel(50, () => paymentRequest(seeded, { idempotencyKey: 'one' }))
    assert.equal(given.enclave.requests.length - before, 1)
    assert.deepEqual(countKinds(outcomes), { created: 1, replayed: 49 })
    const payments = outcomes.map((outcome) => created(outcome).payment)
    const hashes = new Set(payments.map((payment) => payment.txHash))
    assert.equal(new Set(payments.map((payment) => payment.id)).size, 1)
    assert.equal(hashes.size, 1)
    assert.ok(!hashes.has(null))
  })

  test('one key on two wallets at once makes one record', async () => {
    const seeded = await seed(given.context)
    const other = await seedWallet(given.context, seeded)
    const { seedGrant } = await import('../../../../test/support/seed.ts')
    await seedGrant(given.context, { ...seeded, wallet: other })
    const outcomes = await inParallel(20, (index) =>
      paymentRequest(seeded, { idempotencyKey: 'two wallets', wallet: index % 2 === 0 ? seeded.wallet : other }),
    )
    assert.deepEqual(countKinds(outcomes), { created: 1, replayed: 19 })
  })

  async function inParallel(
    count: number,
    request: (index: number) => Parameters<typeof createPayment>[1],
  ): Promise<PaymentOutcome[]> {
    const processes = [given.context, given.openAnother()] as const
    return await Promise.all(
      Array.from({ length: count }, (_, index) => createPayment(processes[index % 2 === 0 ? 0 : 1], request(index))),
    )
  }
})

function created(outcome: PaymentOutcome) {
  if (outcome.kind === 'refused') assert.fail(`refused with ${outcome.refusal.code}`)
  return outcome
}

function countKinds(outcomes: readonly PaymentOutcome[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) {
    const kind = outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}
