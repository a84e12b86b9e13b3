import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { expectPayment } from '../../../../test/support/context/expect-outcome.ts'
import type { FakeReceipt } from '../../../../test/support/wires/fake-chain.ts'
import {
  listEventTypes,
  openConnections,
  readAllowance,
  readRows,
} from '../../../../test/support/database/read-rows.ts'
import { paymentRequest, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { microUsdc } from '../../values/money.ts'
import { createPayment } from '../payment-requests/create-payment.ts'
import { formatPayment } from './format-payment.ts'
import { getPayment } from './get-payment.ts'
import type { Payment } from './payment.ts'
import { refreshPayment } from '../reconciliation/refresh-payment.ts'
import { settlePayments } from './settle-payments.ts'

const CONFIRMATIONS = 3

describe('settling a payment (D28)', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext((config) => {
      const test = { ...config.chains.test, confirmations: CONFIRMATIONS }
      return { ...config, chains: { ...config.chains, test } }
    })
  })
  beforeEach(() => {
    given.chains.test.head = 100n
    given.chains.test.down = false
  })
  after(() => given.close())

  test('a payment is confirmed at the configured depth; before that, only its block is recorded', async () => {
    const { payment, seeded } = await open()
    mine(payment, { blockNumber: 100n })
    for (const head of [100n, 101n]) {
      given.chains.test.head = head
      const { status, minedBlock } = await settle(payment)
      assert.deepEqual([status, minedBlock], ['pending', 100n])
    }
    assert.deepEqual(await listEventTypes(given.context.db, seeded.workspace.id), ['payment.created'])
    given.chains.test.head = 102n
    assert.equal((await settle(payment)).status, 'confirmed')
  })

  test('a payment that cannot be settled does not hold up the others, and its error is thrown at the end', async () => {
    const { payment } = await open()
    mine(payment, { blockNumber: 98n })
    const nobodys = Array.from({ length: 8 }, (_, index) => ({ ...payment, id: `pay_of_nobody_${index}` }))
    const payments = [...nobodys, payment]
    await assert.rejects(settlePayments(given.context, { mode: 'test', payments }), { type: 'not_found' })
    assert.equal((await getPayment(given.context, payment)).status, 'confirmed')
  })

  test('20 concurrent calls in two processes confirm a payment once, with one event that contains it', async () => {
    const { payment, seeded } = await open()
    mine(payment, { blockNumber: 98n })
    const processes = [given.context, given.openAnother()] as const
    await openConnections(processes[0].db, processes[1].db)
    const settled = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        settlePayments(processes[index % 2 === 0 ? 0 : 1], { mode: 'test', payments: [payment] }),
      ),
    )
    for (const [outcome] of settled) assert.equal(outcome?.status, 'confirmed')
    const types = await listEventTypes(given.context.db, seeded.workspace.id)
    assert.deepEqual(types, ['payment.confirmed', 'payment.created'])
    const rows = await readRows(
      given.context.db,
      "select data from events where workspace_id = $1 and type = 'payment.confirmed'",
      [seeded.workspace.id],
    )
    assert.deepEqual(rows[0]?.['data'], { payment: formatPayment(await getPayment(given.context, payment)) })
  })

  const failures: readonly (readonly [string, Partial<FakeReceipt>, string])[] = [
    ['a reverted transaction', { reverted: true }, 'reverted'],
    ['a transfer of another amount', { amountMicro: 999_999n }, 'transfer_missing'],
    ['a transfer to somebody else', { to: `0x${'8'.repeat(40)}` }, 'transfer_missing'],
    ['a transfer of another token', { contract: `0x${'8'.repeat(40)}` }, 'transfer_missing'],
  ]
  for (const [name, receipt, code] of failures) {
    test(`${name} fails the payment at the configured depth and not before, once and with its event`, async () => {
      const { payment, seeded } = await open()
      mine(payment, { blockNumber: 99n, ...receipt })
      assert.equal((await settle(payment)).status, 'pending')
      given.chains.test.head = 101n
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => settle(payment)))
      for (const { status, failureCode } of outcomes) assert.deepEqual([status, failureCode], ['failed', code])
      const types = await listEventTypes(given.context.db, seeded.workspace.id)
      assert.deepEqual(types, ['payment.created', 'payment.failed'])
    })
  }

  test('a transaction from another sender without the transfer proves nothing: the payment stays pending, with the reason', async () => {
    const { payment } = await open()
    mine(payment, { blockNumber: 99n, from: `0x${'8'.repeat(40)}` })
    given.chains.test.head = 101n
    const settled = await settle(payment)
    assert.deepEqual([settled.status, settled.pendingReason], ['pending', 'transfer_not_found'])
  })

  test('a payment that failed on the chain no longer counts against the cap', async () => {
    const { payment, seeded } = await open({ dailyCap: '1' })
    mine(payment, { blockNumber: 90n, reverted: true })
    await settle(payment)
    expectPayment(await createPayment(given.context, paymentRequest(seeded)), 'created')
  })

  test('a payment that failed on the chain still counts against the allowance, because the enclave had accepted it (D27)', async () => {
    const { payment, seeded } = await open({ mode: 'live' })
    given.chains.live.receipts.set(payment.txHash ?? '', { ...receiptOf(payment), blockNumber: 100n, reverted: true })
    assert.equal((await settle(payment)).status, 'failed')
    assert.equal(await readAllowance(given.context.db, seeded.workspace.id), 1)
  })

  test('after a reorganization a payment waits again, and another block settles it', async () => {
    const { payment } = await open()
    mine(payment, { blockNumber: 100n })
    assert.equal((await settle(payment)).minedBlock, 100n)
    given.chains.test.receipts.delete(payment.txHash ?? '')
    const waiting = await settle(payment)
    assert.deepEqual([waiting.status, waiting.minedBlock, waiting.minedBlockHash], ['pending', null, null])
    mine(payment, { blockNumber: 103n })
    given.chains.test.head = 105n
    const confirmed = await settle(payment)
    assert.deepEqual([confirmed.status, confirmed.minedBlock], ['confirmed', 103n])
  })

  test('confirmed and failed are final, whatever the chain says later', async () => {
    const { payment, seeded } = await open()
    mine(payment, { blockNumber: 98n })
    await settle(payment)
    mine(payment, { blockNumber: 98n, reverted: true })
    assert.equal((await settle(payment)).status, 'confirmed')
    given.chains.test.receipts.delete(payment.txHash ?? '')
    assert.equal((await settle(payment)).status, 'confirmed')
    assert.equal((await listEventTypes(given.context.db, seeded.workspace.id)).length, 2)
  })

  test('a read refreshes the payment from the chain, or returns it as recorded while the chain is unavailable', async () => {
    const { payment } = await open()
    mine(payment, { blockNumber: 98n })
    given.chains.test.down = true
    assert.equal((await refreshPayment(given.context, payment)).status, 'pending')
    given.chains.test.down = false
    assert.equal((await refreshPayment(given.context, payment)).status, 'confirmed')
    given.chains.test.down = true
    assert.equal((await refreshPayment(given.context, payment)).status, 'confirmed')
  })

  test('a payment of another workspace or mode is not found', async () => {
    const { payment } = await open()
    await assert.rejects(refreshPayment(given.context, { ...payment, mode: 'live' }), { status: 404 })
    await assert.rejects(refreshPayment(given.context, { ...payment, workspaceId: 'acc_other' }), { status: 404 })
    for (const id of ['', 'pay_', payment.id.toLowerCase(), `${payment.id}\u0000`]) {
      await assert.rejects(refreshPayment(given.context, { ...payment, id }), { status: 404 })
    }
  })

  async function open(options: Parameters<typeof seed>[1] = {}): Promise<{ payment: Payment; seeded: Seed }> {
    const seeded = await seed(given.context, options)
    return { payment: expectPayment(await createPayment(given.context, paymentRequest(seeded))), seeded }
  }

  /** Settles the payment like a caller that only knows it as pending, and returns the recorded payment. */
  async function settle(payment: Payment): Promise<Payment> {
    const known = await getPayment(given.context, payment)
    const stale = known.status === 'pending' ? known : { ...payment, status: 'pending' as const }
    await settlePayments(given.context, { mode: payment.mode, payments: [stale] })
    return await getPayment(given.context, payment)
  }

  function mine(payment: Payment, receipt: Partial<FakeReceipt>): void {
    given.chains.test.receipts.set(payment.txHash ?? '', { ...receiptOf(payment), ...receipt })
  }

  function receiptOf(payment: Payment): FakeReceipt {
    return {
      contract: given.config.chains[payment.mode].usdc,
      from: payment.walletAddress,
      to: payment.to,
      amountMicro: microUsdc(payment.amountMicro),
      blockNumber: 100n,
    }
  }
})
