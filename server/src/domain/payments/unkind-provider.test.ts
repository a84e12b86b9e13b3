import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { OddAnswer } from '../../../../test/support/wires/fake-enclave.ts'
import type { FakeReceipt } from '../../../../test/support/wires/fake-chain.ts'
import { expectPayment } from '../../../../test/support/context/expect-outcome.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { paymentRequest, RECIPIENT, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createPayment } from '../payment-requests/create-payment.ts'
import { getPayment } from './get-payment.ts'
import { ATTEMPT_MS, PAYMENT_FENCE_MARGIN_MS, SEND_WINDOW_MS, type Payment, type TxHash } from './payment.ts'
import { reconcilePayment } from '../reconciliation/reconcile-payment.ts'
import { refreshPayment } from '../reconciliation/refresh-payment.ts'
import { settlePayments } from './settle-payments.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { referenceId } from './derived-ids.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const FENCE_MS = ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS + 1_000
const OPERATION: TxHash = `0x${'0e'.repeat(32)}`
const BUNDLER = `0x${'b'.repeat(40)}` as const

/**
 * Unhelpful behavior of the real enclave (D24 to D24c). In every case, the spending in any 24 hours must stay within
 * the cap, and an idempotency key must cause at most one transfer.
 */
describe('an enclave that misbehaves', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  beforeEach(() => {
    given.clock.setOffset(0)
    given.enclave.behave = () => 'sign'
    given.enclave.blind = false
    given.enclave.now = () => given.clock.now()
  })
  after(() => given.close())

  describe('the enclave reports that a payment failed', () => {
    for (const status of ['failed', 'provider_error']) {
      test(`"${status}" does not free the cap, because the transfer can still land; when it lands, the payment is confirmed`, async () => {
        const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '100', mode: 'live' })
        const first = await pay(seeded, { amountUsdc: '100' })
        given.clock.setOffset(SEND_WINDOW_MS + 1_000)
        given.enclave.told.set(referenceId(first), { status, txHash: first.txHash })
        await reconcile(first)
        const waiting = await getPayment(given.context, first)
        assert.deepEqual([waiting.status, waiting.pendingReason], ['pending', 'reported_failed'])
        assert.equal((await create(seeded, { amountUsdc: '100' })).kind, 'refused')
        land(first)
        assert.equal((await refresh(first)).status, 'confirmed')
      })
    }

    test('an existing receipt confirms the payment, whatever the enclave reports', async () => {
      const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '100', mode: 'live' })
      const first = await pay(seeded, { amountUsdc: '100' })
      land(first)
      given.clock.setOffset(SEND_WINDOW_MS + 1_000)
      given.enclave.told.set(referenceId(first), { status: 'failed', txHash: first.txHash })
      await reconcile(first)
      assert.equal((await refresh(first)).status, 'confirmed')
    })
  })

  describe('the enclave responds with an error, although the transfer lands', () => {
    const ANSWERS: [string, OddAnswer][] = [
      ['a failed broadcast', { status: 400, body: { error: 'Failed', code: 'transaction_broadcast_failure' } }],
      ['an internal error', { status: 500, body: { error: 'Oops' } }],
      ['an unavailable enclave', { status: 503, body: { error: 'Unavailable' } }],
      ['a conflict', { status: 409, body: { error: 'Conflict', code: 'resource_conflict' } }],
      ['a 403 page', { status: 403, body: 'Access denied' }],
      ['a 400 without JSON', { status: 400, body: 'No' }],
    ]
    for (const [name, answer] of ANSWERS) {
      test(`${name}: the payment stays pending with a 500 and counts towards the cap, and a retry finds the transfer`, async () => {
        const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '100' })
        given.enclave.behave = () => ({ ...answer, isAccepted: true })
        await assert.rejects(create(seeded, { amountUsdc: '100', idempotencyKey: 'k' }), { code: 'privy_call_failed' })
        given.enclave.behave = () => 'sign'
        assert.equal((await create(seeded, { amountUsdc: '100' })).kind, 'refused')
        const again = expectPayment(await create(seeded, { amountUsdc: '100', idempotencyKey: 'k' }), 'replayed')
        assert.equal(again.txHash, given.enclave.accepted.get(referenceId(again)))
        assert.equal(requestsOf(again).length, 1)
      })

      test(`${name}, and the enclave has no record of the transfer: a retry finds the transfer on the chain`, async () => {
        const seeded = await seed(given.context)
        given.enclave.behave = () => answer
        await assert.rejects(create(seeded, { idempotencyKey: 'k' }), { code: 'privy_call_failed' })
        given.enclave.behave = () => 'sign'
        const [open] = await list(seeded)
        assert.ok(open)
        const txHash: TxHash = `0x${open.id
          .slice(-16)
          .split('')
          .map((c) => c.charCodeAt(0).toString(16))
          .join('')
          .padStart(64, '0')}`
        chainOf(open).receipts.set(txHash, { ...receiptOf(open), blockNumber: chainOf(open).head })
        passFence()
        const again = expectPayment(await create(seeded, { idempotencyKey: 'k' }), 'replayed')
        assert.equal(again.txHash, txHash)
        assert.equal(requestsOf(again).length, 1)
        assert.equal((await refresh(again)).status, 'confirmed')
      })
    }

    test('a retry waits while an earlier request may still arrive, then sends once', async () => {
      const seeded = await seed(given.context)
      given.enclave.behave = () => ({ status: 500, body: { error: 'Oops' } })
      await assert.rejects(create(seeded, { idempotencyKey: 'k' }), { code: 'privy_call_failed' })
      given.enclave.behave = () => 'sign'
      const [open] = await list(seeded)
      assert.ok(open)
      const lookUps = given.enclave.lookUps
      const retry = create(seeded, { idempotencyKey: 'k' })
      await waitFor('a look-up', () => given.enclave.lookUps !== lookUps)
      assert.equal(requestsOf(open).length, 1)
      passFence()
      expectPayment(await retry, 'replayed')
      assert.equal(requestsOf(open).length, 2)
    })
  })

  describe('the enclave does not send, because of an error on our side or its own', () => {
    const ANSWERS: [string, OddAnswer][] = [
      [
        'spent gas credits',
        { status: 400, body: { error: 'Insufficient gas credits balance', code: 'insufficient_funds' } },
      ],
      ['sponsorship that is off', { status: 400, body: { error: 'Gas sponsorship is not enabled for this chain' } }],
      ['bad credentials', { status: 401, body: { error: 'Invalid app ID or app secret.' } }],
      ['a feature that is off', { status: 403, body: { error: 'Off', code: 'feature_not_enabled' } }],
      ['a rate limit', { status: 429, body: { error: 'Slow down', code: 'too_many_requests' } }],
    ]
    for (const [name, answer] of ANSWERS) {
      test(`${name}: the payment stays pending with a 500, and a retry sends it at once`, async () => {
        const seeded = await seed(given.context)
        given.enclave.behave = () => answer
        await assert.rejects(create(seeded, { idempotencyKey: 'k' }), { code: 'privy_call_failed' })
        const [open] = await list(seeded)
        assert.deepEqual([open?.status, open?.pendingReason], ['pending', 'not_sent'])
        given.enclave.behave = () => 'sign'
        const again = expectPayment(await create(seeded, { idempotencyKey: 'k' }), 'replayed')
        assert.ok(again.txHash !== null)
        assert.equal(again.pendingReason, null)
      })
    }
  })

  describe('payments that were not sent', () => {
    test('a retry a day later sends nothing: the payment fails as never received, and the cap is not exceeded', async () => {
      const seeded = await seed(given.context, { maxPerTx: '100', dailyCap: '100' })
      given.enclave.behave = () => 'unavailable'
      await assert.rejects(create(seeded, { amountUsdc: '100', idempotencyKey: 'day-1' }), {
        code: 'privy_call_failed',
      })
      given.clock.setOffset(DAY_MS + 1_000)
      goOn()
      given.enclave.behave = () => 'sign'
      const today = await pay(seeded, { amountUsdc: '100', idempotencyKey: 'day-2' })
      const old = expectPayment(await create(seeded, { amountUsdc: '100', idempotencyKey: 'day-1' }), 'replayed')
      assert.deepEqual([old.status, old.failureCode], ['failed', 'never_received'])
      assert.equal(requestsOf(old).length, 1)
      assert.equal(given.enclave.accepted.has(referenceId(old)), false)
      assert.equal(given.enclave.accepted.has(referenceId(today)), true)
    })

    test('a retry sends the payment within the send window, but not after it', async () => {
      for (const [ageMs, status] of [
        [SEND_WINDOW_MS - 60_000, 'pending'],
        [SEND_WINDOW_MS, 'failed'],
      ] as const) {
        const seeded = await seed(given.context)
        given.clock.setOffset(0)
        given.enclave.behave = () => 'unavailable'
        await assert.rejects(create(seeded, { idempotencyKey: 'k' }), { code: 'privy_call_failed' })
        given.clock.setOffset(ageMs)
        goOn()
        given.enclave.behave = () => 'sign'
        assert.equal(expectPayment(await create(seeded, { idempotencyKey: 'k' }), 'replayed').status, status)
      }
    })
  })

  describe('two payments in one transaction', () => {
    test('with one transfer: one payment is confirmed, the other stays pending with a reason', async () => {
      const seeded = await seed(given.context)
      const [one, two] = [await pay(seeded), await pay(seeded)]
      await shareTransaction(one, two)
      chainOf(one).receipts.set(hashOf(one), { ...receiptOf(one), blockNumber: chainOf(one).head })
      await settle(one, two)
      const states = (await list(seeded)).map(({ status, pendingReason }) => `${status} ${pendingReason}`)
      assert.deepEqual(states.toSorted(), ['confirmed null', 'pending transfer_not_found'])
    })

    test('with two equal transfers: both payments are confirmed, each by its own log, even if two processes settle them', async () => {
      const seeded = await seed(given.context)
      const [one, two] = [await pay(seeded), await pay(seeded)]
      await shareTransaction(one, two)
      const others = [receiptOf(two)]
      chainOf(one).receipts.set(hashOf(one), { ...receiptOf(one), others, sender: BUNDLER, blockNumber: 100n })
      const another = given.openAnother()
      await Promise.all([settle(one, two), settlePayments(another, { mode: 'test', payments: await list(seeded) })])
      const logs = (await list(seeded)).map(({ status, logIndex }) => `${status} ${logIndex}`)
      assert.deepEqual(logs.toSorted(), ['confirmed 0', 'confirmed 1'])
    })

    test('a payment succeeds if its own user operation succeeded, whatever the status of the transaction', async () => {
      const seeded = await seed(given.context)
      const [one, two] = [await pay(seeded), await pay(seeded)]
      await shareTransaction(one, two)
      const other: TxHash = `0x${'0f'.repeat(32)}`
      await readRows(given.context.db, 'update payments set user_operation_hash = $2 where id = $1', [
        one.id,
        OPERATION,
      ])
      await readRows(given.context.db, 'update payments set user_operation_hash = $2 where id = $1', [two.id, other])
      const operations = [
        { hash: other, isSuccess: true, after: 1 },
        { hash: OPERATION, isSuccess: false, after: 1 },
      ]
      chainOf(one).receipts.set(hashOf(one), { ...receiptOf(one), operations, sender: BUNDLER, blockNumber: 100n })
      await settlePayments(given.context, { mode: 'test', payments: await list(seeded) })
      const settled = [await getPayment(given.context, one), await getPayment(given.context, two)]
      assert.deepEqual(
        settled.map(({ status, failureCode }) => [status, failureCode]),
        [
          ['failed', 'reverted'],
          ['confirmed', null],
        ],
      )
    })
  })

  describe('payments that could get stuck', () => {
    test('without any hash from the enclave, the user operation is found on the chain', async () => {
      const payment = await openHashless({ status: 'pending', txHash: null, userOperationHash: OPERATION })
      const landed: TxHash = `0x${'aa'.repeat(32)}`
      const operations = [{ hash: OPERATION, isSuccess: true, after: 1 }]
      landAs(payment, landed, { operations, sender: BUNDLER })
      await reconcile(payment)
      const settled = await getPayment(given.context, payment)
      assert.deepEqual([settled.status, settled.txHash], ['confirmed', landed])
    })

    test('a failed user operation that is reported without a hash is proven by the chain', async () => {
      const payment = await openHashless({ status: 'execution_reverted', txHash: null, userOperationHash: OPERATION })
      const operations = [{ hash: OPERATION, isSuccess: false, after: 0 }]
      landAs(payment, `0x${'ab'.repeat(32)}`, { operations, sender: BUNDLER, amountMicro: 1n })
      await reconcile(payment)
      const settled = await getPayment(given.context, payment)
      assert.deepEqual([settled.status, settled.failureCode], ['failed', 'reverted'])
    })

    test('a payment that is reported as replaced, with its old hash, is found in its new transaction', async () => {
      const seeded = await seed(given.context)
      const payment = await pay(seeded)
      given.enclave.told.set(referenceId(payment), { status: 'replaced', txHash: payment.txHash })
      overtake(payment)
      landAs(payment, `0x${'ac'.repeat(32)}`)
      await reconcile(payment)
      const settled = await getPayment(given.context, payment)
      assert.deepEqual([settled.status, settled.txHash], ['confirmed', `0x${'ac'.repeat(32)}`])
    })

    test('a payment fails as replaced if another transaction used its nonce and is deep enough', async () => {
      const seeded = await seed(given.context)
      const payment = await pay(seeded)
      given.enclave.told.set(referenceId(payment), { status: 'replaced', txHash: payment.txHash })
      await reconcile(payment)
      assert.equal((await getPayment(given.context, payment)).status, 'pending')
      overtake(payment)
      await reconcile(payment)
      const settled = await getPayment(given.context, payment)
      assert.deepEqual([settled.status, settled.failureCode], ['failed', 'replaced'])
    })

    test('a transfer that belongs to another payment is not taken for this one', async () => {
      const seeded = await seed(given.context)
      const other = await pay(seeded)
      land(other)
      const payment = await openHashless({ status: 'failed', txHash: null }, seeded)
      await reconcile(payment)
      const waiting = await getPayment(given.context, payment)
      assert.deepEqual([waiting.txHash, waiting.pendingReason], [null, 'reported_failed'])
    })

    test('the look-ups of a payment become less and less frequent', async () => {
      const payment = await openHashless({ status: 'pending', txHash: null })
      const waitMs = async (): Promise<number> => {
        const before = given.clock.now().getTime()
        await reconcile(payment)
        const [row] = await readRows(given.context.db, 'select next_lookup_at from payments where id = $1', [
          payment.id,
        ])
        const next: unknown = row?.['next_lookup_at']
        assert.ok(next instanceof Date)
        return next.getTime() - before
      }
      const waits: number[] = []
      for (let look = 0; look < 12; look += 1) waits.push(await waitMs())
      assert.ok(
        waits.every((wait, index) => wait >= Math.min(4_000 * 2 ** index, 600_000)),
        waits.join(),
      )
    })
  })

  /** Moves our clock and the chain past the last time at which an earlier request could still arrive. */
  function passFence(): void {
    given.clock.setOffset(FENCE_MS)
    goOn()
  }

  function goOn(): void {
    for (const chain of [given.chains.test, given.chains.live]) chain.head += 10n
  }

  function create(seeded: Seed, options: Partial<Parameters<typeof paymentRequest>[1]> = {}) {
    return createPayment(given.context, paymentRequest(seeded, { mode: seeded.mode, ...options }))
  }

  async function pay(seeded: Seed, options: Partial<Parameters<typeof paymentRequest>[1]> = {}): Promise<Payment> {
    return expectPayment(await create(seeded, options), 'created')
  }

  /** Creates an accepted payment without a transaction hash, and sets what the enclave will report about it. */
  async function openHashless(
    told: { status: string; txHash: null; userOperationHash?: TxHash },
    seeded?: Seed,
  ): Promise<Payment> {
    const payment = await pay(seeded ?? (await seed(given.context)))
    const set = 'update payments set tx_hash = null, user_operation_hash = $2 where id = $1'
    await readRows(given.context.db, set, [payment.id, told.userOperationHash ?? null])
    given.enclave.told.set(referenceId(payment), told)
    return await getPayment(given.context, payment)
  }

  /** Reads the payment as it is now stored, and looks up its outcome once. */
  async function reconcile(payment: Payment): Promise<void> {
    await reconcilePayment(given.context, { payment: await getPayment(given.context, payment) })
  }

  async function refresh({ workspaceId, mode, id }: Payment): Promise<Payment> {
    return await refreshPayment(given.context, { workspaceId, mode, id })
  }

  async function settle(...payments: readonly Payment[]): Promise<void> {
    const now = await Promise.all(payments.map((payment) => getPayment(given.context, payment)))
    await settlePayments(given.context, { mode: now[0]?.mode ?? 'test', payments: now })
  }

  /** Gives two payments the same transaction, as a bundler may do. */
  async function shareTransaction(one: Payment, two: Payment): Promise<void> {
    await readRows(given.context.db, 'update payments set tx_hash = $2 where id = $1', [two.id, one.txHash])
  }

  async function list(seeded: Seed): Promise<Payment[]> {
    const rows = await readRows(given.context.db, 'select id, mode from payments where workspace_id = $1 order by id', [
      seeded.workspace.id,
    ])
    const workspaceId = seeded.workspace.id
    return await Promise.all(
      rows.map((row) => getPayment(given.context, { workspaceId, mode: seeded.mode, id: String(row['id']) })),
    )
  }

  function requestsOf(payment: Payment) {
    return given.enclave.requests.filter((request) => request.referenceId === referenceId(payment))
  }

  const chainOf = ({ mode }: Payment) => given.chains[mode]

  function receiptOf({ mode, walletAddress, amountMicro }: Payment) {
    return { contract: given.context.chains[mode].usdc, from: walletAddress, to: RECIPIENT, amountMicro }
  }

  function land(payment: Payment): void {
    landAs(payment, hashOf(payment))
  }

  function landAs(payment: Payment, txHash: TxHash, change: Partial<FakeReceipt> = {}): void {
    const chain = chainOf(payment)
    chain.receipts.set(txHash, { ...receiptOf(payment), blockNumber: chain.head, ...change })
  }

  /** Makes the chain report that another transaction has used the nonce of the payment's transaction. */
  function overtake(payment: Payment): void {
    const chain = chainOf(payment)
    chain.transactions.set(hashOf(payment), { from: payment.walletAddress, nonce: 4n })
    chain.nonces.set(payment.walletAddress.toLowerCase(), 5n)
    goOn()
  }

  function hashOf({ txHash }: Payment): TxHash {
    assert.ok(txHash !== null)
    return txHash
  }
})
