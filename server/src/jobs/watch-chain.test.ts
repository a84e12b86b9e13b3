import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { expectPayment } from '../../../test/support/context/expect-outcome.ts'
import type { FakeChain } from '../../../test/support/wires/fake-chain.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { paymentRequest, seed } from '../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { createPayment } from '../domain/payment-requests/create-payment.ts'
import { getPayment } from '../domain/payments/get-payment.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { refreshPayment } from '../domain/reconciliation/refresh-payment.ts'
import type { Loop } from '../lib/loop.ts'
import { REREAD_AFTER_MS } from './receipt-schedule.ts'
import { watchChain } from './watch-chain.ts'

const HEAD = 100n
/** How many rounds a test waits before it checks that nothing more happened. */
const ROUNDS = 5
/** The lease is renewed after less than this time. */
const RENEWAL_MS = 5_000

for (const confirmations of [1, 4]) {
  describe(`watching payments at a depth of ${confirmations}`, () => {
    const watch = useWatch(confirmations)

    test('receipts are read once per block, and the payment is confirmed at its depth', async () => {
      const payment = await watch.pay()
      await watch.start()
      await watch.rounds(ROUNDS)
      assert.deepEqual(watch.count('eth_getTransactionReceipt'), 1)
      watch.chain.head += 1n
      watch.mine(payment)
      await waitFor('it is seen', async () => (await watch.read(payment)).minedBlock !== null)
      for (let depth = 1; depth < confirmations; depth += 1) {
        assert.equal((await watch.read(payment)).status, 'pending')
        watch.chain.head += 1n
        await watch.rounds(2)
      }
      await waitFor('it is confirmed', async () => (await watch.read(payment)).status === 'confirmed')
      // The receipt is read before the transaction is mined, when it is first found, and when its block is deep enough.
      // At a depth of 1, the last two are the same read.
      assert.equal(watch.count('eth_getTransactionReceipt'), confirmations === 1 ? 2 : 3)
    })
  })
}

describe('watching payments', () => {
  const watch = useWatch(1)

  test('while no payment waits, nothing is sent to the chain', async () => {
    await watch.start()
    for (let round = 0; round < 2; round += 1) await watch.nextRound()
    assert.equal(watch.chain.calls, 0)
  })

  test('a payment that gets its hash while the head stays the same is read at once', async () => {
    const first = await watch.pay()
    await watch.start()
    await watch.rounds(2)
    const second = await watch.pay()
    watch.mine(second)
    await waitFor('it is confirmed', async () => (await watch.read(second)).status === 'confirmed')
    assert.equal((await watch.read(first)).status, 'pending')
    assert.equal(watch.count('eth_getTransactionReceipt'), 2)
  })

  test('a reorganization at the same height is noticed', async () => {
    const payment = await watch.pay()
    await watch.start()
    await watch.rounds(2)
    watch.chain.reorganize(1)
    watch.mine(payment)
    await watch.rounds(2)
    assert.equal((await watch.read(payment)).status, 'pending')
    watch.given.clock.setOffset(REREAD_AFTER_MS)
    await waitFor('it is confirmed', async () => (await watch.read(payment)).status === 'confirmed')
  })

  test('a failed read is repeated', async () => {
    const payment = await watch.pay()
    watch.mine(payment)
    let refused = 0
    watch.intercept = ({ method }) => {
      if (method !== 'eth_getTransactionReceipt' || refused > 0) return
      refused += 1
      return { garbage: true }
    }
    await watch.start()
    await waitFor('it is confirmed', async () => (await watch.read(payment)).status === 'confirmed')
    assert.equal(refused, 1)
  })

  test('50 concurrent reads of one payment share a few chain reads, of one request each', async () => {
    const payment = await watch.pay()
    watch.chain.requests = 0
    const read = await Promise.all(Array.from({ length: 50 }, () => refreshPayment(watch.given.context, payment)))
    assert.ok(read.every(({ id, status }) => id === payment.id && status === 'pending'))
    assert.ok(watch.chain.requests <= 10, String(watch.chain.requests))
    watch.mine(payment)
    assert.equal((await refreshPayment(watch.given.context, payment)).status, 'confirmed')
  })
})

function useWatch(confirmations: number) {
  const opened: { given?: TestContext } = {}
  const loops: Loop[] = []
  const counts = new Map<string, number>()
  let clockOffsetMs = 0
  const watch = {
    intercept: (() => undefined) as FakeChain['intercept'],
    get given(): TestContext {
      assert.ok(opened.given)
      return opened.given
    },
    get chain(): FakeChain {
      return watch.given.chains.test
    },
    count: (method: string): number => counts.get(method) ?? 0,
    reset(): void {
      counts.clear()
      Object.assign(watch.chain, { requests: 0, calls: 0, bytes: 0 })
    },
    async start(): Promise<void> {
      watch.reset()
      loops.push(watchChain(watch.given.context, { mode: 'test', holder: 'holder' }))
    },
    /** Waits until the head was read this many more times. */
    async rounds(more: number): Promise<void> {
      const until = watch.count('eth_blockNumber') + more
      await waitFor(`${more} rounds`, () => watch.count('eth_blockNumber') >= until)
    },
    /**
     * Waits until the lease shows that a round has begun. Moves the clock, because a lease that was renewed a moment
     * ago is not renewed again.
     */
    async nextRound(): Promise<void> {
      const readLease = async (): Promise<string> => {
        const rows = await readRows(watch.given.context.db, "select expires_at from leases where name = 'watch:test'")
        return String((rows[0]?.['expires_at'] as Date | undefined)?.getTime())
      }
      const known = await readLease()
      clockOffsetMs += RENEWAL_MS
      watch.given.clock.setOffset(clockOffsetMs)
      await waitFor('a round', async () => (await readLease()) !== known)
    },
    async pay(): Promise<Payment> {
      const seeded = await seed(watch.given.context)
      return expectPayment(await createPayment(watch.given.context, paymentRequest(seeded)))
    },
    mine(payment: Payment): void {
      const { usdc } = watch.given.config.chains.test
      const { walletAddress: from, to, amountMicro } = payment
      const blockNumber = watch.chain.head
      watch.chain.receipts.set(payment.txHash ?? '', { contract: usdc, from, to, amountMicro, blockNumber })
    },
    read: (payment: Payment): Promise<Payment> => getPayment(watch.given.context, payment),
  }
  before(async () => {
    opened.given = await openTestContext((config) => {
      const test = { ...config.chains.test, confirmations }
      return { ...config, chains: { ...config.chains, test } }
    })
  })
  beforeEach(() => {
    watch.intercept = () => undefined
    clockOffsetMs = 0
    watch.given.clock.setOffset(clockOffsetMs)
    watch.chain.head = HEAD
    watch.chain.intercept = (call) => {
      counts.set(call.method, watch.count(call.method) + 1)
      return watch.intercept(call)
    }
  })
  afterEach(() => Promise.all(loops.splice(0).map((loop) => loop.stop())))
  after(() => watch.given.close())
  return watch
}
