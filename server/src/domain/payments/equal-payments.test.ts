import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { RpcRefusal, type FakeChain, type FakeReceipt } from '../../../../test/support/wires/fake-chain.ts'
import { countBlocks, limitLogRanges } from '../../../../test/support/wires/limit-log-ranges.ts'
import { expectPayment } from '../../../../test/support/context/expect-outcome.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { seedPayment } from '../../../../test/support/context/payment-rows.ts'
import { paymentRequest, RECIPIENT, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { ChainUnavailable } from '../../chain/errors.ts'
import { microUsdc } from '../../values/money.ts'
import { createPayment } from '../payment-requests/create-payment.ts'
import { getPayment } from './get-payment.ts'
import { ATTEMPT_MS, PAYMENT_FENCE_MARGIN_MS, SEND_WINDOW_MS, type Payment, type TxHash } from './payment.ts'
import { settleAuthorizations } from './authorizations/settle-authorizations.ts'
import { reconcilePayment } from '../reconciliation/reconcile-payment.ts'
import { referenceId } from './derived-ids.ts'

const OPERATION: TxHash = `0x${'0e'.repeat(32)}`

/**
 * Agents often pay the same amount to the same recipient, and such equal transfers look the same on the chain. The
 * enclave may have no record of a payment that may have been sent. Then a transfer that could belong to another payment
 * proves nothing, and neither does a search that did not reach the head of the chain.
 */
describe('equal payments that may have been sent', () => {
  let given: TestContext
  /** The hash of the transaction that contains the transfer that lands. */
  let landed: TxHash
  before(async () => {
    given = await openTestContext()
  })
  beforeEach(() => {
    landed = `0x${randomBytes(32).toString('hex')}`
    given.clock.setOffset(0)
    given.enclave.behave = () => 'sign'
    Object.assign(given.chains.test, { intercept: () => undefined, machineHead: () => undefined })
  })
  after(() => given.close())

  test('if one of two payments landed, the reconciler fails neither and sends neither again', async () => {
    const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '200' })
    const [one, other] = [await lose(seeded, 'a'), await lose(seeded, 'b')]
    land(one)
    passSendWindow()
    for (const payment of [one, other]) await reconcile(payment)
    assert.deepEqual(
      [await stateOf(one), await stateOf(other)],
      [
        ['pending', null],
        ['pending', null],
      ],
    )
    assert.deepEqual([requestsOf(one), requestsOf(other)], [1, 1])
    // Once the enclave finds its record of one payment, the transfer belongs to that payment. So the other payment
    // certainly failed.
    given.enclave.told.set(referenceId(one), { status: 'confirmed', txHash: landed })
    for (const payment of [one, one, other]) await reconcile(payment)
    assert.deepEqual(
      [await stateOf(one), await stateOf(other)],
      [
        ['confirmed', landed],
        ['failed', null],
      ],
    )
  })

  test('a payment that landed does not fail while an equal, accepted payment has no known transaction yet', async () => {
    const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '200' })
    const lost = await lose(seeded, 'a')
    land(lost)
    const accepted = expectPayment(await create(seeded, 'b'), 'created')
    await readRows(given.context.db, 'update payments set tx_hash = null where id = $1', [accepted.id])
    passSendWindow()
    await reconcile(lost)
    assert.deepEqual(await stateOf(lost), ['pending', null])
    // Once the transaction of the accepted payment is known, the remaining transfer belongs to the lost payment.
    await readRows(given.context.db, 'update payments set tx_hash = $2 where id = $1', [accepted.id, accepted.txHash])
    given.chains.test.receipts.set(accepted.txHash ?? '', {
      ...receiptOf(accepted),
      blockNumber: given.chains.test.head,
    })
    await reconcile(lost)
    assert.deepEqual(await stateOf(lost), ['confirmed', landed])
  })

  test('a payment does not get the transfer of another payment whose transaction was replaced', async () => {
    const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '200' })
    const lost = await lose(seeded, 'a')
    const accepted = expectPayment(await create(seeded, 'b'), 'created')
    const set = 'update payments set user_operation_hash = $2 where id = $1'
    await readRows(given.context.db, set, [accepted.id, OPERATION])
    land(accepted, { operations: [{ hash: OPERATION, isSuccess: true, after: 1 }], sender: `0x${'b'.repeat(40)}` })
    passSendWindow()
    await reconcile(lost)
    assert.deepEqual(await stateOf(lost), ['pending', null])
    await reconcile(accepted)
    assert.deepEqual(await stateOf(accepted), ['confirmed', landed])
    await reconcile(lost)
    assert.deepEqual(await stateOf(lost), ['failed', null])
  })

  const BLIND: [name: string, blind: () => void][] = [
    [
      'allows only few blocks in one search',
      () => {
        given.chains.test.head += 400n
        given.chains.test.intercept = limitLogRanges(5n)
      },
    ],
    ['has no new blocks', () => undefined],
  ]
  for (const [name, blind] of BLIND) {
    test(`while the node ${name}, the payment is neither failed nor sent again`, async () => {
      const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '200' })
      const lost = await lose(seeded, 'a')
      given.clock.setOffset(SEND_WINDOW_MS + ATTEMPT_MS)
      blind()
      await reconcile(lost, given.openAnother())
      assert.deepEqual(await stateOf(lost), ['pending', null])
      assert.equal(requestsOf(lost), 1)
    })
  }

  test('at a node that allows one block in a query, a search continues at the next look-up, which comes soon', async () => {
    const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '300' })
    const [early, late, never] = [await lose(seeded, 'a'), await lose(seeded, 'b'), await lose(seeded, 'c')]
    await readRows(given.context.db, `update payments set amount_micro = amount_micro - 1 where id = $1`, [early.id])
    await readRows(given.context.db, `update payments set amount_micro = amount_micro - 2 where id = $1`, [late.id])
    const chain = given.chains.test
    for (const [payment, after] of [
      [early, 3n],
      [late, 300n],
    ] as const) {
      const { walletAddress: from, amountMicro } = await getPayment(given.context, payment)
      const transfer = { contract: given.context.chains.test.usdc, from, to: RECIPIENT, amountMicro }
      chain.receipts.set(`0x${randomBytes(32).toString('hex')}`, { ...transfer, blockNumber: chain.head + after })
    }
    passSendWindow()
    chain.head += 300n
    chain.intercept = limitLogRanges(1n)
    const another = given.openAnother()
    let looks = 0
    for (const payment of [early, late, never]) {
      for (; (await getPayment(given.context, payment)).status === 'pending'; looks += 1) {
        assert.ok(looks < 60, 'the search does not continue')
        await reconcile(payment, another)
        const select = 'select next_lookup_at from payments where id = $1'
        const [row] = await readRows(given.context.db, select, [payment.id])
        const waitMs = Number(row?.['next_lookup_at'] ?? 0) - given.clock.now().getTime()
        const { status } = await getPayment(given.context, payment)
        assert.ok(waitMs <= 3_000 || status !== 'pending', `the next look-up is in ${waitMs} ms`)
      }
    }
    assert.deepEqual(await Promise.all([early, late, never].map(async (payment) => (await stateOf(payment))[0])), [
      'confirmed',
      'confirmed',
      'failed',
    ])
  })

  const LAGGING: readonly (readonly [name: string, machineHead: (landedIn: bigint) => FakeChain['machineHead']])[] = [
    [
      'that answers every query for logs',
      (block) => (call) => (call.method === 'eth_getLogs' ? block - 1n : undefined),
    ],
    ['that answers the queries for ranges', (block) => (call) => (countBlocks(call) > 1n ? block - 1n : undefined)],
    [
      'that answers the first query for logs',
      (block) => {
        let queries = 0
        return ({ method }) => (method === 'eth_getLogs' && (queries += 1) === 1 ? block - 1n : undefined)
      },
    ],
    ['that answers all calls', (block) => () => block - 1n],
  ]
  for (const [name, machineHead] of LAGGING) {
    test(`a payment that landed does not fail by the answers of a machine ${name} and lags`, async () => {
      const chain = given.chains.test
      const lost = await lose(await seed(given.context, { maxPerTx: '100', dailyCap: '200' }), 'a')
      chain.head += 2n
      land(lost)
      passSendWindow()
      chain.machineHead = machineHead(chain.head - 10n)
      for (let looks = 0; looks < 3; looks += 1) await reconcile(lost, given.openAnother()).catch(() => undefined)
      assert.notEqual((await stateOf(lost))[0], 'failed')
      chain.machineHead = () => undefined
      await reconcile(lost)
      assert.deepEqual(await stateOf(lost), ['confirmed', landed])
    })
  }

  test('a user operation of another wallet with the hash that the enclave names does not end the payment', async () => {
    const seeded = await seed(given.context)
    const payment = expectPayment(await create(seeded, 'a', '1'), 'created')
    const set = 'update payments set user_operation_hash = $2 where id = $1'
    await readRows(given.context.db, set, [payment.id, OPERATION])
    const operation = { hash: OPERATION, isSuccess: false, after: 0, sender: `0x${'c'.repeat(40)}` } as const
    land(payment, { operations: [operation], sender: `0x${'b'.repeat(40)}`, amountMicro: 1n })
    await reconcile(payment)
    assert.deepEqual(await stateOf(payment), ['pending', payment.txHash])
  })

  test('the enclave is asked for the transaction hash even while the chain’s logs cannot be read', async () => {
    const seeded = await seed(given.context)
    const payment = expectPayment(await create(seeded, 'a', '1'), 'created')
    const set = 'update payments set tx_hash = null, user_operation_hash = $2 where id = $1'
    await readRows(given.context.db, set, [payment.id, OPERATION])
    given.chains.test.intercept = ({ method }) => {
      if (method === 'eth_getLogs') throw new RpcRefusal(-32601)
    }
    await assert.rejects(reconcile(payment), ChainUnavailable)
    assert.deepEqual(await stateOf(payment), ['pending', payment.txHash])
  })

  test('a transfer that was found and then removed by a reorganization is searched for again', async () => {
    const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '200' })
    const lost = await lose(seeded, 'a')
    land(lost)
    passSendWindow()
    const set = 'update payments set tx_hash = $2 where id = $1'
    await readRows(given.context.db, set, [lost.id, `0x${'dd'.repeat(32)}`])
    await reconcile(lost)
    assert.deepEqual(await stateOf(lost), ['confirmed', landed])
  })

  for (const isEnded of [false, true]) {
    const state = isEnded ? 'ended' : 'pending'
    test(`a lost transfer does not get the transfer of an equal purchase that is ${state}`, async () => {
      const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '200' })
      const lost = await lose(seeded, 'a')
      const purchase = await buy(seeded)
      land(purchase, { authorization: nonceOf(purchase), sender: `0x${'b'.repeat(40)}` })
      if (isEnded) await settleAuthorizations(given.context, { mode: 'test', payments: [purchase] })
      passSendWindow()
      await reconcile(lost)
      assert.deepEqual(await stateOf(lost), ['failed', null])
      await settleAuthorizations(given.context, { mode: 'test', payments: [await getPayment(given.context, purchase)] })
      assert.deepEqual(await stateOf(purchase), ['confirmed', landed])
    })

    test(`a lost transfer gets its own log in the transaction of an equal purchase that is ${state}`, async () => {
      const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '200' })
      const lost = await lose(seeded, 'a')
      const purchase = await buy(seeded)
      const authorization = nonceOf(purchase)
      land(purchase, { authorization, others: [receiptOf(lost)], sender: `0x${'b'.repeat(40)}` })
      if (isEnded) await settleAuthorizations(given.context, { mode: 'test', payments: [purchase] })
      passSendWindow()
      await reconcile(lost)
      await settleAuthorizations(given.context, { mode: 'test', payments: [await getPayment(given.context, purchase)] })
      const ended = await Promise.all([purchase, lost].map((payment) => getPayment(given.context, payment)))
      assert.deepEqual(
        ended.map(({ status, txHash, logIndex }) => [status, txHash, logIndex]),
        [1n, 2n].map((logIndex) => ['confirmed', landed, logIndex]),
      )
    })
  }

  function create(seeded: Seed, idempotencyKey: string, amountUsdc = '100') {
    return createPayment(given.context, paymentRequest(seeded, { idempotencyKey, amountUsdc }))
  }

  /** Creates a payment that may have been sent, but of which the enclave has no record. */
  async function lose(seeded: Seed, idempotencyKey: string): Promise<Payment> {
    given.enclave.behave = () => ({ status: 400, body: { error: 'Failed', code: 'transaction_broadcast_failure' } })
    await assert.rejects(create(seeded, idempotencyKey), { code: 'privy_call_failed' })
    given.enclave.behave = () => 'sign'
    const [row] = await readRows(
      given.context.db,
      'select id from payments where workspace_id = $1 and idempotency_key = $2',
      [seeded.workspace.id, idempotencyKey],
    )
    return await getPayment(given.context, { workspaceId: seeded.workspace.id, mode: 'test', id: String(row?.['id']) })
  }

  /** Reserves a purchase that is equal to the payments of `create`. */
  async function buy(seeded: Seed): Promise<Payment> {
    const amount = { amountUsdc: '100', amountMicro: microUsdc(100_000_000n) }
    return await seedPayment(given.context, seeded, { kind: 'x402', firstBlock: 1n, ...amount })
  }

  function receiptOf({ walletAddress, amountMicro }: Payment) {
    return { contract: given.context.chains.test.usdc, from: walletAddress, to: RECIPIENT, amountMicro }
  }

  function land(payment: Payment, change: Partial<FakeReceipt> = {}): void {
    const chain = given.chains.test
    chain.receipts.set(landed, { ...receiptOf(payment), blockNumber: chain.head, ...change })
  }

  /** Moves our clock and the chain past the end of the send window. */
  function passSendWindow(): void {
    given.clock.setOffset(SEND_WINDOW_MS + ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS + 1_000)
    given.chains.test.head += 10n
  }

  async function reconcile(payment: Payment, ctx = given.context): Promise<void> {
    await reconcilePayment(ctx, { payment: await getPayment(given.context, payment) })
  }

  async function stateOf(payment: Payment): Promise<[string, string | null]> {
    const { status, txHash } = await getPayment(given.context, payment)
    return [status, txHash]
  }

  function requestsOf(payment: Payment): number {
    return given.enclave.requests.filter((request) => request.referenceId === referenceId(payment)).length
  }
})

function nonceOf({ authorization }: Payment): TxHash {
  assert.ok(authorization)
  return authorization.nonce
}
