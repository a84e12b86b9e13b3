import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedPayment } from '../../../../test/support/context/payment-rows.ts'
import { seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import type { Payment, TxHash } from './payment.ts'
import { markFailed } from './payments-store.ts'
import { recordAcceptance } from './record-acceptance.ts'

/** More acceptances than fit into one statement. */
const MANY = 70

describe('recordAcceptance', () => {
  let given: TestContext
  let another: Context
  before(async () => {
    given = await openTestContext()
    another = given.openAnother()
  })
  after(() => given.close())

  test('acceptances that arrive together are recorded in few transactions, each with its own values', async () => {
    const payments = await insertPending(MANY)
    const recorded = await Promise.all(payments.map((payment, index) => accept(payment, hashOf(index))))
    assert.deepEqual(
      recorded.map(({ id, txHash, enclaveTransactionId, attemptUntil }) => [
        id,
        txHash,
        enclaveTransactionId,
        attemptUntil,
      ]),
      payments.map(({ id }, index) => [id, hashOf(index), `tx ${id}`, null]),
    )
    for (const payment of recorded) assert.deepEqual(await getPayment(given.context, payment), payment)
    const text = 'select distinct xmin::text from payments where id = any ($1)'
    const transactions = await readRows(given.context.db, text, [payments.map(({ id }) => id)])
    assert.equal(transactions.length, 2)
  })

  test('a payment that another transaction has locked is recorded after it, and holds up no other', async () => {
    const [locked, free] = await insertPending(2)
    assert.ok(locked !== undefined && free !== undefined)
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const text = 'select 1 from payments where id = $1 for update'
    const over = another.db.transaction(async (transaction) => {
      await transaction.run({ name: '', text, values: [locked.id], read: () => null })
      held.resolve()
      await released.promise
    })
    await Promise.race([held.promise, over])
    const both = [accept(locked, hashOf(1)), accept(free, hashOf(2))] as const
    assert.equal((await both[1]).txHash, hashOf(2))
    await waitFor('the other one waits for the lock', async () => {
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return (await readRows(another.db, waiting)).length === 1
    })
    released.resolve()
    await over
    assert.equal((await both[0]).txHash, hashOf(1))
  })

  test('two acceptances of one payment in the same turn are both recorded, and the hash is kept', async () => {
    const [payment] = await insertPending(1)
    assert.ok(payment !== undefined)
    const both = await Promise.all([accept(payment, null), accept(payment, hashOf(3))])
    assert.equal(both[1].txHash, hashOf(3))
    assert.equal((await getPayment(given.context, payment)).txHash, hashOf(3))
  })

  test('a payment that has failed or has a hash is not changed, whatever it is recorded with', async () => {
    const [failed, known, pending] = await insertPending(3)
    assert.ok(failed !== undefined && known !== undefined && pending !== undefined)
    await given.context.db.write(markFailed(failed, 'never_received', given.clock.now()))
    await accept(known, hashOf(4))
    const recorded = await Promise.all([failed, known, pending].map((payment) => accept(payment, hashOf(5))))
    assert.deepEqual(
      recorded.map(({ status, txHash }) => [status, txHash]),
      [
        ['failed', null],
        ['pending', hashOf(4)],
        ['pending', hashOf(5)],
      ],
    )
  })

  test('if the statement for several payments fails, each is recorded alone', async () => {
    const payments = await insertPending(3)
    const [first] = payments
    await readRows(
      given.context.db,
      `alter table payments add constraint poison check (enclave_transaction_id <> 'tx ${first?.id}')`,
    )
    const ends = await Promise.allSettled(payments.map((payment, index) => accept(payment, hashOf(index))))
    await readRows(given.context.db, 'alter table payments drop constraint poison')
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'fulfilled', 'fulfilled'],
    )
  })

  async function insertPending(count: number): Promise<Payment[]> {
    const seeded = await seed(given.context)
    const payments: Payment[] = []
    while (payments.length < count) payments.push(await seedPayment(given.context, seeded))
    return payments
  }

  function accept(payment: Payment, txHash: TxHash | null): Promise<Payment> {
    const accepted = { transactionId: `tx ${payment.id}`, txHash, userOperationHash: null }
    return recordAcceptance(given.context, { payment, accepted })
  }
})

function hashOf(index: number): TxHash {
  return `0x${index.toString(16).padStart(64, '0')}`
}
