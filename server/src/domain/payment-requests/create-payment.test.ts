import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectPayment, expectRefusal } from '../../../../test/support/context/expect-outcome.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { ON_CITUS } from '../../../../test/support/database/fresh-database.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { paymentRequest, seed, seedGrant, seedWallet } from '../../../../test/support/context/seed.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import type { Context } from '../context.ts'
import { monthOf } from '../plans/plan.ts'
import { setAllowance } from '../plans/plans-store.ts'
import { createPayment, type PaymentOutcome } from './create-payment.ts'

describe('createPayment', () => {
  let given: TestContext
  let processes: readonly [Context, Context]
  before(async () => {
    given = await openTestContext()
    processes = [given.context, given.openAnother()]
    await openConnections(processes[0].db, processes[1].db)
  })
  after(() => given.close())

  test('a payment within every limit is reserved and signed, and returns its hash', async () => {
    const seeded = await seed(given.context)
    const outcome = await createPayment(given.context, paymentRequest(seeded, { amountUsdc: '1.50' }))
    assert.equal(outcome.kind, 'created')
    const { payment } = created(outcome)
    assert.equal(payment.status, 'pending')
    assert.equal(payment.amountUsdc, '1.50')
    assert.equal(payment.txHash, given.enclave.accepted.get(payment.id))
  })

  test('createPayment refuses a credential that is bound to another agent, and reserves and signs nothing (D25)', async () => {
    const seeded = await seed(given.context)
    for (const idempotencyKey of [null, 'key']) {
      const request = paymentRequest(seeded, { boundAgentId: 'another-agent', idempotencyKey })
      expectRefusal(await createPayment(given.context, request), 'agent_not_authorized')
    }
    const rows = await readRows(
      given.context.db,
      `select 1 from payments where workspace_id = '${seeded.workspace.id}'`,
    )
    assert.deepEqual(rows, [])
    const own = paymentRequest(seeded, { boundAgentId: seeded.agentId, idempotencyKey: 'key' })
    assert.equal(created(await createPayment(given.context, own)).payment.agentId, seeded.agentId)
  })

  test('a credential bound to another agent gets the payment with the same idempotency key, and causes no signature (D21, D25)', async () => {
    const seeded = await seed(given.context)
    const request = paymentRequest(seeded, { idempotencyKey: 'known' })
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(createPayment(given.context, request), { code: 'privy_call_failed' })
    const calls: string[] = []
    given.enclave.behave = (order) => {
      calls.push(order.referenceId)
      return 'sign'
    }
    const foreign = await createPayment(given.context, { ...request, boundAgentId: 'another-agent' })
    const { status, txHash, attempt } = expectPayment(foreign, 'replayed')
    assert.deepEqual({ status, txHash, attempt, calls }, { status: 'pending', txHash: null, attempt: 1, calls: [] })
  })

  test('of 50 parallel payments against a cap that allows 7, exactly 7 are made', async () => {
    const seeded = await seed(given.context, { dailyCap: '7' })
    const outcomes = await inParallel(50, () => paymentRequest(seeded))
    assert.deepEqual(countKinds(outcomes), { created: 7, daily_cap_exceeded: 43 })
  })

  const skip = ON_CITUS && 'the cells of Citus share one database, which this test changes'
  test('the cap is not exceeded if the database’s default isolation level is stricter', { skip }, async () => {
    const { pathname } = new URL(given.config.database.url)
    const setting = `alter database ${pathname.slice(1)} set default_transaction_isolation`
    await readRows(given.context.db, `${setting} = 'repeatable read'`)
    const seeded = await seed(given.context, { dailyCap: '7' })
    const processes = [given.openAnother(), given.openAnother()] as const
    await openConnections(processes[0].db, processes[1].db)
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        payPatiently(processes[index % 2 === 0 ? 0 : 1], paymentRequest(seeded)),
      ),
    )
    await readRows(given.context.db, `${setting} = 'read committed'`)
    assert.deepEqual(countKinds(outcomes), { created: 7, daily_cap_exceeded: 13 })
  })

  test('of 50 parallel payments against a balance that allows 7, exactly 7 are made', async () => {
    const seeded = await seed(given.context)
    given.chains.test.balances.set(seeded.wallet.toLowerCase(), 7_999_999n)
    const outcomes = await inParallel(50, () => paymentRequest(seeded))
    assert.deepEqual(countKinds(outcomes), { created: 7, insufficient_balance: 43 })
  })

  test('of 50 parallel live payments against an allowance that allows 7, exactly 7 are made', async () => {
    const seeded = await seed(given.context, { mode: 'live' })
    await given.context.db.write(setAllowance(seeded.workspace.id, monthOf(given.clock.now()), 993))
    const outcomes = await inParallel(50, () => paymentRequest(seeded))
    assert.deepEqual(countKinds(outcomes), { created: 7, plan_cap_exceeded: 43 })
  })

  test('the allowance is exact over many wallets, which share only the lock on the allowance', async () => {
    const seeded = await seed(given.context, { mode: 'live' })
    const wallets = [seeded.wallet]
    while (wallets.length < 8) {
      const wallet = await seedWallet(given.context, seeded)
      await seedGrant(given.context, { ...seeded, wallet })
      wallets.push(wallet)
    }
    await given.context.db.write(setAllowance(seeded.workspace.id, monthOf(given.clock.now()), 993))
    const outcomes = await inParallel(48, (index) =>
      paymentRequest(seeded, { wallet: wallets[index % wallets.length] ?? seeded.wallet }),
    )
    assert.deepEqual(countKinds(outcomes), { created: 7, plan_cap_exceeded: 41 })
  })

  test('50 parallel requests with one key over two processes create one payment and one transfer, and get 50 equal results', async () => {
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

  test('two simultaneous requests with one key for two wallets create one payment', async () => {
    const seeded = await seed(given.context)
    const other = await seedWallet(given.context, seeded)
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
    return await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        return await payPatiently(processes[index % 2 === 0 ? 0 : 1], request(index))
      }),
    )
  }
})

/** Makes a payment, and repeats what the process could not take in time on a busy machine. Then nothing was done. */
async function payPatiently(ctx: Context, request: Parameters<typeof createPayment>[1]): Promise<PaymentOutcome> {
  return await waitFor('the process takes the payment', async () => {
    try {
      return await createPayment(ctx, request)
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return null
      throw error
    }
  })
}

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
