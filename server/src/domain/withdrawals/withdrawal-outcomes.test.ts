import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import {
  issueWithdrawal,
  openWithdrawer,
  signWithdrawal,
  withdraw,
} from '../../../../test/support/context/withdrawal-fixture.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import type { Context } from '../context.ts'
import { getPayment } from '../payments/get-payment.ts'
import { PAYMENT_FENCE_MARGIN_MS, WITHDRAWAL_REQUEST_MS, type Payment } from '../payments/payment.ts'
import { claimAttempt } from '../payments/payments-store.ts'
import { reconcilePayment } from '../reconciliation/reconcile-payment.ts'

const CONFIRMATIONS = 3
/**
 * After this time, the enclave can no longer receive a signed withdrawal. One second more is added, because the
 * enclave's time is rounded.
 */
const FENCE_MS = WITHDRAWAL_REQUEST_MS + PAYMENT_FENCE_MARGIN_MS + 1_000
/** The number of blocks that the fake chain gets in `FENCE_MS`, and a few more. */
const FENCE_BLOCKS = 160n

describe('the outcome of a withdrawal', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext((config) => {
      const test = { ...config.chains.test, confirmations: CONFIRMATIONS }
      return { ...config, chains: { ...config.chains, test } }
    })
    ctx = given.context
  })
  beforeEach(() => {
    given.clock.setOffset(0)
    given.enclave.behave = () => 'sign'
    given.enclave.blind = false
    given.chains.test.head = 100n
    given.chains.test.down = false
  })
  after(() => given.close())

  test('a withdrawal that the enclave refuses fails', async () => {
    const withdrawer = await openWithdrawer(ctx)
    given.enclave.behave = () => 'reject'
    const { status, failureCode } = await withdraw(ctx, withdrawer)
    assert.deepEqual([status, failureCode], ['failed', 'enclave_refused'])
  })

  test('a withdrawal that was certainly not sent stays pending until the enclave says that it has no record of it', async () => {
    const withdrawer = await openWithdrawer(ctx)
    given.enclave.behave = () => ({ status: 429, body: { error: 'Too many requests', code: 'too_many_requests' } })
    const payment = await withdraw(ctx, withdrawer)
    assert.deepEqual([payment.status, payment.pendingReason, payment.fencedUntil], ['pending', 'not_sent', null])
    given.enclave.blind = true
    await assert.rejects(reconcilePayment(ctx, { payment }), { name: 'EnclaveUnavailable' })
    given.enclave.blind = false
    await reconcilePayment(ctx, { payment: await getPayment(ctx, payment) })
    const { status, failureCode } = await getPayment(ctx, payment)
    assert.deepEqual([status, failureCode], ['failed', 'never_received'])
    assert.equal(countSent(payment), 1)
  })

  test('a withdrawal whose response was lost is found at the enclave', async () => {
    const withdrawer = await openWithdrawer(ctx)
    given.enclave.behave = () => 'sign and lose the answer'
    const payment = await withdraw(ctx, withdrawer)
    assert.deepEqual([payment.status, payment.pendingReason, payment.txHash], ['pending', 'outcome_unknown', null])
    await reconcilePayment(ctx, { payment })
    assert.equal((await getPayment(ctx, payment)).txHash, given.enclave.accepted.get(payment.id))
    assert.equal(countSent(payment), 1)
  })

  test('a withdrawal without a trace fails only when its request has expired and the chain has passed that time', async () => {
    const withdrawer = await openWithdrawer(ctx)
    given.enclave.behave = () => 'unavailable'
    const payment = await withdraw(ctx, withdrawer)
    const steps: readonly (readonly [offsetMs: number, head: bigint, status: string])[] = [
      [0, 100n + FENCE_BLOCKS, 'pending'],
      [WITHDRAWAL_REQUEST_MS - 1_000, 100n + FENCE_BLOCKS, 'pending'],
      [FENCE_MS, 120n, 'pending'],
      [FENCE_MS, 100n + FENCE_BLOCKS, 'failed'],
    ]
    for (const [offsetMs, head, status] of steps) {
      given.clock.setOffset(offsetMs)
      given.chains.test.head = head
      await reconcilePayment(ctx, { payment: await getPayment(ctx, payment) })
      assert.equal((await getPayment(ctx, payment)).status, status, `after ${offsetMs} ms, at block ${head}`)
    }
    assert.equal((await getPayment(ctx, payment)).failureCode, 'never_received')
    assert.equal(countSent(payment), 1)
  })

  test('a withdrawal that the enclave has no record of, but that is on the chain, is confirmed', async () => {
    const withdrawer = await openWithdrawer(ctx)
    given.enclave.behave = () => 'unavailable'
    const payment = await withdraw(ctx, withdrawer)
    given.clock.setOffset(FENCE_MS)
    given.chains.test.head = 100n + FENCE_BLOCKS
    given.chains.test.logs.push({ ...transferOf(payment), txHash: `0x${'7'.repeat(64)}`, blockNumber: 150n })
    given.chains.test.receipts.set(`0x${'7'.repeat(64)}`, { ...transferOf(payment), blockNumber: 150n })
    await reconcilePayment(ctx, { payment: await getPayment(ctx, payment) })
    assert.equal((await getPayment(ctx, payment)).status, 'confirmed')
  })

  test('a withdrawal whose process died is never sent again, and fails after the same time', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const { seeded } = withdrawer
    given.enclave.behave = () => 'hang'
    const issued = await issueWithdrawal(ctx, withdrawer)
    const dying = signWithdrawal(dead(ctx), withdrawer, issued)
    await assert.rejects(dying, /died/)
    const [id = ''] = await listPayments(seeded.workspace.id)
    const read = (): Promise<Payment> => getPayment(ctx, { workspaceId: seeded.workspace.id, mode: 'test', id })
    const again = await signWithdrawal(ctx, withdrawer, issued)
    assert.deepEqual([again.id, again.status, again.txHash], [id, 'pending', null])
    given.clock.setOffset(FENCE_MS)
    given.chains.test.head = 100n + FENCE_BLOCKS
    const now = given.clock.now()
    assert.equal(await ctx.db.write(claimAttempt(await read(), now, now)), null)
    await reconcilePayment(ctx, { payment: await read() })
    const { status, failureCode, attempt } = await read()
    assert.deepEqual([status, failureCode, attempt], ['failed', 'never_received', 1])
    assert.equal(given.enclave.requests.filter(({ referenceId }) => referenceId === id).length, 0)
  })

  /** A context whose process dies when it is about to call the enclave. */
  function dead(alive: Context): Context {
    const submit = () => Promise.reject(new Error('the process died'))
    const prepareTransfer: Context['enclave']['prepareTransfer'] = (transfer) => {
      return { ...alive.enclave.prepareTransfer(transfer), submit }
    }
    return { ...alive, enclave: { ...alive.enclave, prepareTransfer } }
  }

  function transferOf({ walletAddress: from, to, amountMicro }: Payment) {
    return { contract: ctx.chains.test.usdc, from, to, amountMicro }
  }

  function countSent({ id }: Payment): number {
    return given.enclave.requests.filter(({ referenceId }) => referenceId === id).length
  }

  async function listPayments(workspaceId: string): Promise<string[]> {
    const rows = await readRows(ctx.db, 'select id from payments where workspace_id = $1 order by id', [workspaceId])
    return rows.map((row) => String(row['id']))
  }
})
