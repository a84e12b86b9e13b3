import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { expectPayment } from '../../../../test/support/context/expect-outcome.ts'
import { paymentRequest, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createPayment } from '../payment-requests/create-payment.ts'
import { ATTEMPT_MS, PAYMENT_FENCE_MARGIN_MS } from './payment.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'

const FENCE_MS = ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS + 1_000

/** Signed requests expire by the enclave's clock, so their expiry must be expressed in the enclave's time. */
describe("our clock differs from the enclave's", () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  beforeEach(() => {
    given.clock.setOffset(0)
    given.enclave.behave = () => 'sign'
    given.enclave.now = () => given.clock.now()
  })
  after(() => given.close())

  test("the enclave's clock is ahead of ours: the first payment still goes through", async () => {
    const other = await openTestContext()
    const seeded = await seed(other.context)
    other.enclave.now = () => new Date(other.clock.now().getTime() + 60_000)
    other.enclave.behave = ({ expiry }) =>
      expiry <= other.enclave.now().getTime() ? { status: 401, body: { error: 'The request has expired' } } : 'sign'
    const payment = expectPayment(await createPayment(other.context, paymentRequest(seeded)), 'created')
    assert.equal(payment.txHash, other.enclave.accepted.get(payment.id))
    // The enclave's first response has told us the difference, so now one request is enough.
    const requests = other.enclave.requests.length
    expectPayment(await createPayment(other.context, paymentRequest(seeded)), 'created')
    assert.equal(other.enclave.requests.length, requests + 1)
    await other.close()
  })

  test("the fence ends by the enclave's clock: our own clock is ahead, but does not end it early", async () => {
    const seeded = await seed(given.context)
    const slowMs = 30_000
    given.enclave.now = () => new Date(given.clock.now().getTime() - slowMs)
    given.enclave.behave = () => ({ status: 500, body: { error: 'Oops' } })
    await assert.rejects(pay(seeded), { code: 'privy_call_failed' })
    const request = given.enclave.requests.at(-1)
    assert.ok(request)
    given.enclave.behave = () => 'sign'
    // By our clock the fence is over. By the enclave's clock, the request is still valid.
    const left = (): number => request.expiry - given.enclave.now().getTime()
    given.clock.setOffset(FENCE_MS)
    const lookUps = given.enclave.lookUps
    const retry = pay(seeded)
    await waitFor('a look-up', () => given.enclave.lookUps !== lookUps)
    assert.ok(left() > 0)
    assert.equal(requestsOf(request.referenceId).length, 1)
    given.clock.setOffset(FENCE_MS + slowMs)
    given.chains.test.head += 10n
    expectPayment(await retry, 'replayed')
    assert.equal(requestsOf(request.referenceId).length, 2)
  })

  function pay(seeded: Seed) {
    return createPayment(given.context, paymentRequest(seeded, { idempotencyKey: 'k' }))
  }

  function requestsOf(paymentId: string) {
    return given.enclave.requests.filter(({ referenceId }) => referenceId === paymentId)
  }
})
