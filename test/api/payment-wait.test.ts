import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectError, readBody, type Answer } from '../support/http-client.ts'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { readRows } from '../support/database/read-rows.ts'
import { openTestService, paymentBody, withJobs, type TestService } from '../support/service/test-service.ts'
import { waitFor } from '../support/wait-for.ts'

interface Payment {
  readonly id: string
  readonly status: string
  readonly tx_hash: string
}

const WAITERS = 100
/** More requests than the service has connections to the database, and fewer than the rate limit of one key. */
const WAITERS_OF_KEY = 50
/** The time limit of a stop. It is far below the time for which the requests would wait. */
const STOP_MS_MAX = 10_000

describe('GET /v1/payments/{id}?wait (D57)', () => {
  let given: TestService
  before(async () => {
    given = await openTestService(withJobs)
  })
  after(() => given.close())

  test('responds when the chain confirms the payment', async () => {
    const seeded = await seed(given.context)
    const payment = await pay(seeded)
    const before = await countRequests()
    const answer = read(seeded.key, payment, '?wait=45')
    await waitUntilCounted(1, before)
    given.chains.test.receipts.set(payment.tx_hash, {
      contract: given.config.chains.test.usdc,
      from: seeded.wallet,
      to: RECIPIENT,
      amountMicro: 1_000_000n,
      blockNumber: given.chains.test.head,
    })
    given.chains.test.head += 1n
    assert.equal(paymentOf(await answer).status, 'confirmed')
  })

  test('after its seconds, responds with the payment as it stands', async () => {
    const seeded = await seed(given.context)
    const payment = await pay(seeded)
    for (const query of ['', '?wait=0', '?wait=1']) {
      assert.equal(paymentOf(await read(seeded.key, payment, query)).status, 'pending')
    }
  })

  test('wait is 400 and named if it is not a whole number from 0 to 45, also for an unknown payment', async () => {
    const seeded = await seed(given.context)
    for (const text of ['46', '-1', '1.5', '1e1', '01', '+1', '', 'x', '%00', '9999999999999999999999', '1&wait=1']) {
      const error = expectError(await read(seeded.key, { id: 'pay_1' }, `?wait=${text}`), { type: 'validation_failed' })
      assert.match(error.message, /^`wait` must be a whole number/)
      assert.deepEqual((error.details as { path: string }[])[0]?.path, 'wait')
    }
    expectError(await read(seeded.key, { id: 'pay_1' }, '?wait=45'), { type: 'not_found' })
  })

  test('while 100 requests wait, others are served, and a stop ends all waits', async () => {
    const seeded = await seed(given.context)
    const payment = await pay(seeded)
    const keys = [await given.issueKey(seeded), await given.issueKey(seeded)]
    const before = await countRequests()
    const answers = Array.from(
      { length: WAITERS },
      async (_, index) => await read(keys[Math.floor(index / WAITERS_OF_KEY)] ?? '', payment, '?wait=45'),
    )
    await waitUntilCounted(WAITERS, before)
    assert.equal((await pay(seeded)).status, 'pending')
    const startedAt = performance.now()
    await given.service.stop()
    assert.ok(performance.now() - startedAt < STOP_MS_MAX)
    for (const answer of await Promise.all(answers)) assert.equal(paymentOf(answer).status, 'pending')
  })

  async function pay(seeded: Seed): Promise<Payment> {
    const call = { path: '/v1/payments', key: seeded.key, body: paymentBody(seeded) }
    return readBody<{ payment: Payment }>(await given.call(call), 201).payment
  }

  async function read(key: string, { id }: { id: string }, query: string): Promise<Answer> {
    return await given.call({ path: `/v1/payments/${id}${query}`, key })
  }

  function paymentOf(answer: Answer): Payment {
    return readBody<{ payment: Payment }>(answer, 200).payment
  }

  /** Counts the requests of `/v1` that the rate limiter has let in. A request starts to wait shortly after. */
  async function countRequests(): Promise<number> {
    const [row] = await readRows(given.context.db, 'select sum(cardinality(hits)) as requests from rate_windows')
    return Number(row?.['requests'] ?? 0)
  }

  async function waitUntilCounted(requests: number, before: number): Promise<void> {
    await waitFor(`${requests} requests`, async () => (await countRequests()) >= before + requests)
  }
})
