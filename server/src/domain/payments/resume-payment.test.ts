import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { OPERATOR } from '../audit/audit-entry.ts'
import { expectPayment } from '../../../../test/support/context/expect-outcome.ts'
import {
  listEventTypes,
  openConnections,
  readAllowance,
  readRows,
} from '../../../../test/support/database/read-rows.ts'
import { paymentRequest, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { SigningRequest } from '../../../../test/support/wires/fake-enclave.ts'
import { openEnclave } from '../../enclave/privy/open-enclave.ts'
import { changePlan } from '../workspaces/change-plan.ts'
import type { Context } from '../context.ts'
import { suspendGrant } from '../grants/suspend-grant.ts'
import { createPayment } from '../payment-requests/create-payment.ts'
import { ATTEMPT_MS, PAYMENT_FENCE_MARGIN_MS } from './payment.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { referenceId } from './derived-ids.ts'

/** Long enough for the request to arrive, even on a busy machine. */
const SHORT_TIMEOUT_MS = 2_000

/** Whatever the enclave does, a payment has at most one transfer, and a retry finds out about it (D22 to D24). */
describe('a payment whose outcome at the enclave is unknown', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  beforeEach(() => {
    given.enclave.behave = () => 'sign'
    given.enclave.blind = false
    given.clock.setOffset(0)
  })
  after(() => given.close())

  test('the enclave is unavailable: 500, pending; a retry sends it again once the fence is over, under a fresh key', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(pay(seeded), { status: 500, code: 'privy_call_failed' })
    const [id] = await listPayments(seeded, 'pending')
    given.enclave.behave = () => 'sign'
    passFence()
    const payment = expectPayment(await pay(seeded), 'replayed')
    assert.equal(payment.id, id)
    assert.equal(payment.txHash, given.enclave.accepted.get(referenceId(payment)))
    const keys = requestsOf(seeded).map(({ idempotencyKey }) => idempotencyKey)
    assert.deepEqual(
      keys,
      [1, 2].map((attempt) => `${seeded.workspace.id}:test:key:key:${attempt}`),
    )
    assert.deepEqual(await listEventTypes(given.context.db, seeded.workspace.id), ['payment.created'])
  })

  test('the enclave signs and its response is lost: a retry finds the transfer by its reference, and sends nothing', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'sign and lose the answer'
    await assert.rejects(pay(seeded), { status: 500, code: 'privy_call_failed' })
    const payment = expectPayment(await pay(seeded), 'replayed')
    assert.equal(payment.txHash, given.enclave.accepted.get(referenceId(payment)))
    assert.equal(requestsOf(seeded).length, 1)
    assert.equal((await listPayments(seeded)).length, 1)
  })

  test('the enclave hangs: the call ends in time, and a retry sends only when the hanging request has expired', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'hang'
    const enclave = openEnclave({ ...given.config.enclave, timeoutMs: SHORT_TIMEOUT_MS }, given.context)
    const hasty = { ...given.context, enclave }
    await assert.rejects(pay(seeded, hasty), { status: 500, code: 'privy_call_failed' })
    const [id = ''] = await listPayments(seeded, 'pending')
    given.enclave.behave = () => 'sign'
    const lookUps = given.enclave.lookUps
    const retry = pay(seeded)
    await waitFor('a look-up', () => given.enclave.lookUps !== lookUps)
    assert.equal(requestsOf(seeded).length, 1)
    passFence()
    const payment = expectPayment(await retry, 'replayed')
    assert.deepEqual([payment.id, payment.txHash], [id, given.enclave.accepted.get(referenceOf(seeded))])
    assert.equal(requestsOf(seeded).length, 2)
    enclave.close()
  })

  test('a payment that was not sent is sent again', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(pay(seeded), { code: 'privy_call_failed' })
    given.enclave.behave = () => 'sign'
    passFence()
    const payment = expectPayment(await pay(seeded), 'replayed')
    assert.equal(payment.txHash, given.enclave.accepted.get(referenceId(payment)))
    assert.equal(requestsOf(seeded).length, 2)
  })

  test('if the grant is suspended meanwhile, nothing is sent any more', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(pay(seeded), { code: 'privy_call_failed' })
    given.enclave.behave = () => 'sign'
    passFence()
    await suspendGrant(given.context, { workspaceId: seeded.workspace.id, grantId: seeded.grant.id, actor: OPERATOR })
    await assert.rejects(pay(seeded), { code: 'permission_not_found', details: { reason: 'suspended' } })
    assert.equal((await listPayments(seeded, 'pending')).length, 1)
    assert.equal(requestsOf(seeded).length, 1)
  })

  test('if the grant expires meanwhile, nothing is sent any more', async () => {
    const expiresAt = new Date(given.clock.now().getTime() + ATTEMPT_MS)
    const seeded = await seed(given.context, { expiresAt })
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(pay(seeded), { code: 'privy_call_failed' })
    given.enclave.behave = () => 'sign'
    passFence()
    await assert.rejects(pay(seeded), { status: 403, code: 'permission_expired' })
  })

  test('a failed look-up does not prove that nothing was sent, so nothing is sent again', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'sign and lose the answer'
    await assert.rejects(pay(seeded), { code: 'privy_call_failed' })
    given.enclave.blind = true
    given.enclave.behave = () => 'sign'
    await assert.rejects(pay(seeded), { code: 'privy_call_failed' })
    given.enclave.blind = false
    expectPayment(await pay(seeded), 'replayed')
    assert.equal(requestsOf(seeded).length, 1)
  })

  test('the enclave refuses: the payment fails, with both events, and counts in no limit any more', async () => {
    const seeded = await seed(given.context, { mode: 'live', dailyCap: '1' })
    given.enclave.behave = () => 'reject'
    const payment = expectPayment(await pay(seeded), 'created')
    assert.deepEqual([payment.status, payment.failureCode, payment.txHash], ['failed', 'enclave_refused', null])
    const types = await listEventTypes(given.context.db, seeded.workspace.id)
    assert.deepEqual(types, ['payment.created', 'payment.failed'])
    assert.equal(await readAllowance(given.context.db, seeded.workspace.id), 0)
    given.enclave.behave = () => 'sign'
    assert.equal(expectPayment(await pay(seeded), 'replayed').status, 'failed')
    expectPayment(await createPayment(given.context, paymentRequest(seeded)), 'created')
    assert.equal(await readAllowance(given.context.db, seeded.workspace.id), 1)
  })

  test('an allowance that was corrected meanwhile never falls below zero', async () => {
    const seeded = await seed(given.context, { mode: 'live' })
    const { workspace } = seeded
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(pay(seeded), { code: 'privy_call_failed' })
    await changePlan(given.context, { workspace, plan: workspace.plan, allowanceUsed: 0, actor: OPERATOR })
    given.enclave.behave = () => 'reject'
    passFence()
    assert.equal(expectPayment(await pay(seeded), 'replayed').status, 'failed')
    assert.equal(await readAllowance(given.context.db, workspace.id), 0)
  })

  test('the enclave accepts without a hash: the hash is fetched before the response', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'sign without hash'
    const payment = expectPayment(await pay(seeded), 'created')
    assert.equal(payment.txHash, given.enclave.accepted.get(referenceId(payment)))
  })

  test('the payment fails if the enclave is unavailable at first, and then refuses it', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(pay(seeded), { code: 'privy_call_failed' })
    given.enclave.behave = () => 'reject'
    passFence()
    const payment = expectPayment(await pay(seeded), 'replayed')
    assert.equal(payment.status, 'failed')
    assert.equal(requestsOf(seeded).length, 2)
  })

  test('of 20 concurrent retries in two processes, one sends', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(pay(seeded), { code: 'privy_call_failed' })
    given.enclave.behave = () => 'sign'
    passFence()
    const processes = [given.context, given.openAnother()] as const
    await openConnections(processes[0].db, processes[1].db)
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => pay(seeded, processes[index % 2 === 0 ? 0 : 1])),
    )
    const payments = outcomes.map((outcome) => expectPayment(outcome, 'replayed'))
    assert.equal(new Set(payments.map(({ id, txHash }) => `${id} ${txHash}`)).size, 1)
    assert.equal(requestsOf(seeded).length, 2)
  })

  test('without a key, a retry is another payment', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(createPayment(given.context, paymentRequest(seeded)), { code: 'privy_call_failed' })
    given.enclave.behave = () => 'sign'
    expectPayment(await createPayment(given.context, paymentRequest(seeded)), 'created')
    assert.equal((await listPayments(seeded)).length, 2)
  })

  /**
   * Moves our clock and the chain past the time in which an earlier request could arrive. Our clock moves one second
   * further, because the provider's time has whole seconds.
   */
  function passFence(): void {
    given.clock.setOffset(ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS + 1_000)
    for (const chain of [given.chains.test, given.chains.live]) chain.head += 10n
  }

  function pay(seeded: Seed, ctx: Context = given.context) {
    return createPayment(ctx, paymentRequest(seeded, { idempotencyKey: 'key' }))
  }

  /** The reference id of the payment that `pay` requests. */
  function referenceOf({ workspace }: Seed): string {
    return referenceId({ workspaceId: workspace.id, mode: 'test', idempotencyKey: 'key', id: '' })
  }

  function requestsOf(seeded: Seed): SigningRequest[] {
    return given.enclave.requests.filter((request) => request.referenceId === referenceOf(seeded))
  }

  async function listPayments(seeded: Seed, status?: string): Promise<string[]> {
    const rows = await readRows(given.context.db, 'select id, status from payments where workspace_id = $1', [
      seeded.workspace.id,
    ])
    if (status !== undefined) for (const row of rows) assert.equal(row['status'], status)
    return rows.map((row) => String(row['id']))
  }
})
