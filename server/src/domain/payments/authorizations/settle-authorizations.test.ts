import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { expectPayment } from '../../../../../test/support/context/expect-outcome.ts'
import { seedPayment } from '../../../../../test/support/context/payment-rows.ts'
import { paymentRequest, RECIPIENT, seed, type Seed } from '../../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import {
  listEventTypes,
  openConnections,
  readAllowance,
  readRows,
} from '../../../../../test/support/database/read-rows.ts'
import { RpcRefusal, type FakeReceipt, type FakeTransfer } from '../../../../../test/support/wires/fake-chain.ts'
import { countBlocks, limitLogRanges } from '../../../../../test/support/wires/limit-log-ranges.ts'
import { createPayment } from '../../payment-requests/create-payment.ts'
import { formatPayment } from '../format-payment.ts'
import { postponeLookups } from '../authorizations-store.ts'
import { getPayment } from '../get-payment.ts'
import type { Payment, PurchasePayment, TxHash } from '../payment.ts'
import { markConfirmed, markFailed } from '../payments-store.ts'
import { sumUnmined } from '../pending-store.ts'
import { settlePayments } from '../settle-payments.ts'
import { refreshPayment } from '../../reconciliation/refresh-payment.ts'
import { waitForPayment } from '../../reconciliation/wait-for-payment.ts'
import { settleAuthorizations } from './settle-authorizations.ts'
import { settleWalletPayments } from '../settle-wallet-payments.ts'

const CONFIRMATIONS = 3
const FIRST_BLOCK = 95n
const SECONDS_PER_BLOCK = 2n
const LOOKS_MAX = 30

describe('the end of a purchase (D66)', () => {
  let given: TestContext
  let seeded: Seed
  before(async () => {
    given = await openTestContext((config) => {
      const test = { ...config.chains.test, confirmations: CONFIRMATIONS }
      return { ...config, chains: { ...config.chains, test } }
    })
  })
  beforeEach(async () => {
    const chain = given.chains.test
    Object.assign(chain, { head: 100n, down: false, startSeconds: 0n, intercept: () => undefined })
    chain.receipts.clear()
    given.clock.setOffset(0)
    seeded = await seed(given.context)
  })
  after(() => given.close())

  test('a use at the configured depth confirms it by the transfer’s log; before that, only the block is recorded', async () => {
    const purchase = await open()
    const txHash = use([purchase], { blockNumber: 100n })
    for (const head of [100n, 101n]) {
      given.chains.test.head = head
      const { status, minedBlock, txHash: recorded } = await settle(purchase)
      assert.deepEqual([status, minedBlock, recorded], ['pending', 100n, null])
    }
    assert.deepEqual(await listEventTypes(given.context.db, seeded.workspace.id), [])
    given.chains.test.head = 102n
    const confirmed = await settle(purchase)
    assert.deepEqual(
      [confirmed.status, confirmed.txHash, confirmed.logIndex, confirmed.minedBlock],
      ['confirmed', txHash, 1n, 100n],
    )
    const rows = await readRows(given.context.db, 'select type, data from events where workspace_id = $1', [
      seeded.workspace.id,
    ])
    assert.deepEqual(rows, [{ type: 'payment.confirmed', data: { payment: formatPayment(confirmed) } }])
  })

  test('it expires by the time of the block at the depth, to the second, and our clock does not matter', async () => {
    const purchase = await open()
    given.clock.setOffset(48 * 60 * 60 * 1_000)
    showTime(purchase, -1n)
    assert.equal((await settle(purchase)).status, 'pending')
    given.clock.setOffset(-48 * 60 * 60 * 1_000)
    showTime(purchase, 0n)
    const { status, failureCode, txHash } = await settle(purchase)
    assert.deepEqual([status, failureCode, txHash], ['failed', 'authorization_expired', null])
    assert.deepEqual(await listEventTypes(given.context.db, seeded.workspace.id), ['payment.failed'])
  })

  test('a use in the last block before the expiry is found when that block is deep, and never counts as expired', async () => {
    const purchase = await open()
    use([purchase], { blockNumber: 100n })
    for (const head of [100n, 101n, 102n]) {
      given.chains.test.head = head
      showTime(purchase, 60n)
      assert.equal((await settle(purchase)).status, head < 102n ? 'pending' : 'confirmed')
    }
  })

  test('a cancellation at the configured depth fails it', async () => {
    const purchase = await open()
    use([purchase], { blockNumber: 99n, cancels: [nonceOf(purchase)] })
    assert.equal((await settle(purchase)).status, 'pending')
    given.chains.test.head = 101n
    const { status, failureCode } = await settle(purchase)
    assert.deepEqual([status, failureCode], ['failed', 'authorization_canceled'])
  })

  test('a use that a reorganization removed is forgotten; the purchase is then used in another block, or expires', async () => {
    const [again, never] = [await open(), await open()]
    use([again], { blockNumber: 100n })
    use([never], { blockNumber: 100n })
    for (const one of [again, never]) assert.equal((await settle(one)).minedBlock, 100n)
    given.chains.test.reorganize(1)
    for (const one of [again, never]) {
      const { minedBlock, minedBlockHash } = await settle(one)
      assert.deepEqual([minedBlock, minedBlockHash], [null, null])
    }
    use([again], { blockNumber: 102n })
    given.chains.test.head = 104n
    assert.deepEqual([(await settle(again)).status, (await settle(again)).minedBlock], ['confirmed', 102n])
    showTime(never, 0n)
    assert.equal((await settle(never)).failureCode, 'authorization_expired')
  })

  test('a use without the signed transfer leaves it pending, with the reason', async () => {
    const purchase = await open()
    use([{ ...purchase, amountMicro: 1n as Payment['amountMicro'] }], { blockNumber: 90n + 5n })
    showTime(purchase, 60n)
    const { status, pendingReason } = await settle(purchase)
    assert.deepEqual([status, pendingReason], ['pending', 'transfer_not_found'])
  })

  test('one transaction with two equal purchases and an equal transfer gives each of them its own log', async () => {
    const [one, other] = [await open(), await open()]
    const plain = expectPayment(await createPayment(given.context, paymentRequest(seeded)))
    const txHash = plain.txHash ?? '0x'
    const others = [toTransfer(plain), toTransfer(other)]
    given.chains.test.receipts.set(txHash, { ...toTransfer(one), others, blockNumber: 98n })
    await settlePayments(given.context, { mode: 'test', payments: [plain] })
    await settleAuthorizations(given.context, { mode: 'test', payments: [one, other] })
    // The logs are in this order: use, transfer, plain transfer, use, transfer.
    const ended = await Promise.all([one, plain, other].map((payment) => getPayment(given.context, payment)))
    assert.deepEqual(
      ended.map((payment) => [payment.status, payment.txHash, payment.logIndex]),
      [1n, 2n, 4n].map((logIndex) => ['confirmed', txHash, logIndex]),
    )
  })

  test('a transfer is not settled by the log of an equal purchase in its own transaction', async () => {
    const purchase = await open()
    const plain = expectPayment(await createPayment(given.context, paymentRequest(seeded)))
    const sender = `0x${'8'.repeat(40)}` as const
    given.chains.test.receipts.set(plain.txHash ?? '', { ...toTransfer(purchase), sender, blockNumber: 98n })
    await settlePayments(given.context, { mode: 'test', payments: [plain] })
    const { status, pendingReason } = await getPayment(given.context, plain)
    assert.deepEqual([status, pendingReason], ['pending', 'transfer_not_found'])
  })

  for (const blocksMax of [1n, 3n]) {
    test(`purchases end at a node that allows ${blocksMax} blocks in a query: used early, used late, and never`, async () => {
      const purchases = [await open(), await open(), await open()] as const
      const [early, late, never] = purchases
      use([early], { blockNumber: FIRST_BLOCK + 1n })
      use([late], { blockNumber: FIRST_BLOCK + 140n })
      given.chains.test.intercept = limitLogRanges(blocksMax)
      given.chains.test.head = FIRST_BLOCK + 150n
      showTime(never, 0n)
      await lookUpUntilEnded(purchases, given.openAnother())
      assert.deepEqual(
        await Promise.all(purchases.map(async (one) => (await getPayment(given.context, one)).failureCode)),
        [null, null, 'authorization_expired'],
      )
    })
  }

  test('a look continues where the last one stopped, and searches only the newest blocks again', async () => {
    const purchase = await open()
    given.chains.test.head = FIRST_BLOCK + 100n
    const another = given.openAnother()
    const searched: bigint[] = []
    given.chains.test.intercept = (call) => void searched.push(countBlocks(call))
    for (const expected of [101n, 16n, 16n]) {
      searched.length = 0
      await look([purchase], another)
      assert.equal(searched.toSorted((a, b) => Number(b - a))[0], expected)
    }
  })

  test('a use whose log one machine left out in several looks is found when the state shows that there was one', async () => {
    const purchase = await open()
    use([purchase], { blockNumber: FIRST_BLOCK + 2n })
    given.chains.test.head = FIRST_BLOCK + 50n
    given.chains.test.intercept = ({ method }) => (method === 'eth_getLogs' ? [] : undefined)
    for (let looks = 0; looks < 3; looks += 1) await look([purchase])
    given.chains.test.intercept = () => undefined
    await look([purchase])
    assert.equal((await getPayment(given.context, purchase)).status, 'pending')
    showTime(purchase, 0n)
    await lookUpUntilEnded([purchase])
    assert.equal((await getPayment(given.context, purchase)).status, 'confirmed')
  })

  const LAGGING: readonly (readonly [string, (call: { method: string; params: readonly unknown[] }) => unknown])[] = [
    ['reports an older head', ({ method }) => (method === 'eth_blockNumber' ? '0x5f' : undefined)],
    ['does not have the block of the depth', ({ method }) => (method === 'eth_call' ? refuse() : undefined)],
    ['has no contract at the address', ({ method }) => (method === 'eth_call' ? '0x' : undefined)],
    ['returns no logs', ({ method }) => (method === 'eth_getLogs' ? [] : undefined)],
    ['has no receipt yet', ({ method }) => (method === 'eth_getTransactionReceipt' ? null : undefined)],
  ]
  for (const [name, intercept] of LAGGING) {
    test(`a used purchase does not fail while the node ${name}`, async () => {
      const purchase = await open()
      // The use is in a block before the end of the authorization. The newest block with enough confirmations is after
      // that end.
      use([purchase], { blockNumber: 96n })
      showTime(purchase, 0n)
      given.chains.test.intercept = intercept
      await settleAuthorizations(given.context, { mode: 'test', payments: [purchase] }).catch(() => undefined)
      assert.notEqual((await getPayment(given.context, purchase)).status, 'failed')
      given.chains.test.intercept = () => undefined
      assert.equal((await settle(purchase)).status, 'confirmed')
    })
  }

  for (const outcome of ['confirmed', 'failed'] as const) {
    test(`20 concurrent calls in two processes end it once as ${outcome}, with one event`, async () => {
      const purchase = await open()
      if (outcome === 'confirmed') use([purchase], { blockNumber: 96n })
      else showTime(purchase, 0n)
      const processes = [given.context, given.openAnother()] as const
      await openConnections(processes[0].db, processes[1].db)
      const settled = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          settleAuthorizations(processes[index % 2 === 0 ? 0 : 1], { mode: 'test', payments: [purchase] }),
        ),
      )
      for (const [one] of settled) assert.equal(one?.status, outcome)
      assert.deepEqual(await listEventTypes(given.context.db, seeded.workspace.id), [`payment.${outcome}`])
    })
  }

  test('an expired purchase no longer counts against the cap, and gives its place in the allowance back', async () => {
    const limited = await seed(given.context, { dailyCap: '1' })
    const purchase = await open(limited)
    const request = paymentRequest(limited)
    assert.equal((await createPayment(given.context, request)).kind, 'refused')
    showTime(purchase, 0n)
    assert.equal((await settle(purchase)).status, 'failed')
    expectPayment(await createPayment(given.context, request), 'created')
    const live = await seed(given.context, { mode: 'live' })
    expectPayment(await createPayment(given.context, paymentRequest(live)), 'created')
    assert.equal(await readAllowance(given.context.db, live.workspace.id), 1)
    const inLive = await open(live)
    given.chains.live.head = 200n
    given.chains.live.startSeconds = secondsOf(inLive)
    assert.equal((await settle(inLive)).status, 'failed')
    given.chains.live.startSeconds = 0n
    assert.equal(await readAllowance(given.context.db, live.workspace.id), 0)
  })

  test('the balance holds a purchase until a block with its use is reflected, as for a transfer', async () => {
    const purchase = await open()
    const place = { workspaceId: seeded.workspace.id, mode: 'test', wallet: seeded.wallet } as const
    const heldAt = (balanceBlock: bigint) =>
      given.context.db.read(sumUnmined(place, { now: given.clock.now(), balanceBlock }))
    assert.equal(await heldAt(100n), 1_000_000n)
    use([purchase], { blockNumber: 100n })
    await settleWalletPayments(given.context, place)
    assert.deepEqual([await heldAt(99n), await heldAt(100n)], [1_000_000n, 0n])
    given.chains.test.head = 102n
    await settleWalletPayments(given.context, place)
    assert.deepEqual([await heldAt(99n), await heldAt(100n)], [1_000_000n, 0n])
  })

  test('a read of the purchase refreshes it from the chain, and an agent’s read finds it', async () => {
    const purchase = await open()
    use([purchase], { blockNumber: 98n })
    given.chains.test.down = true
    assert.equal((await refreshPayment(given.context, purchase)).status, 'pending')
    given.chains.test.down = false
    const wait = { waitMs: 0, signal: AbortSignal.abort(), ofAgents: true }
    const { workspaceId, mode, id } = purchase
    assert.equal((await waitForPayment(given.context, { workspaceId, mode, id, ...wait })).status, 'confirmed')
  })

  test('purchases of very different ages are all found, and one that cannot be recorded does not stop the others', async () => {
    const old = await open(seeded, { firstBlock: 1n })
    given.chains.test.head = 30_000n
    const recent = await open(seeded, { firstBlock: 29_900n })
    use([old], { blockNumber: 3n })
    use([recent], { blockNumber: 29_950n })
    const nobodys = { ...recent, id: 'pay_of_nobody' }
    const settling = settleAuthorizations(given.context, { mode: 'test', payments: [nobodys, recent, old] })
    await assert.rejects(settling, { type: 'not_found' })
    for (const one of [old, recent]) assert.equal((await getPayment(given.context, one)).status, 'confirmed')
  })

  test('the database rejects a purchase that failed with a code of transfers, or was confirmed without a log', async () => {
    const { db, clock } = given.context
    const purchase = await open()
    for (const code of ['never_received', 'reverted', 'transfer_missing', 'replaced'] as const) {
      await assert.rejects(db.write(markFailed(purchase, code, clock.now())), /payments_authorization_end_check/)
    }
    const without = `update payments set status = 'confirmed', settled_at = now(), mined_block = 1, mined_block_hash = '0x1',
      tx_hash = $2 where id = $1`
    const settling = readRows(db, without, [purchase.id, `0x${'1'.repeat(64)}`])
    await assert.rejects(settling, /payments_authorization_end_check/)
    // `markConfirmed` finds a payment by its transaction, and a pending purchase has no transaction.
    const log = { number: 1n, hash: '0x1', logIndex: 0n }
    assert.equal(await db.write(markConfirmed(purchase, log, clock.now())), null)
    assert.equal((await getPayment(given.context, purchase)).status, 'pending')
  })

  async function open(by: Seed = seeded, changes: Partial<PurchasePayment> = {}): Promise<Payment> {
    return await seedPayment(given.context, by, { kind: 'x402', firstBlock: FIRST_BLOCK, ...changes })
  }

  /** Makes one look at each purchase, like the job, and records how far it searched. */
  async function look(purchases: readonly Payment[], ctx = given.context): Promise<void> {
    const known = await Promise.all(purchases.map((purchase) => getPayment(ctx, purchase)))
    const settled = await settleAuthorizations(ctx, { mode: 'test', payments: known })
    const lookups = settled.map((payment) => ({ payment, nextLookupAt: given.clock.now() }))
    await given.context.db.write(postponeLookups(lookups))
  }

  async function lookUpUntilEnded(purchases: readonly Payment[], ctx = given.context): Promise<void> {
    const isPending = async (purchase: Payment): Promise<boolean> =>
      (await getPayment(given.context, purchase)).status === 'pending'
    for (let looks = 0; (await Promise.all(purchases.map(isPending))).includes(true); looks += 1) {
      assert.ok(looks < LOOKS_MAX, 'the purchases do not end')
      await look(purchases, ctx)
    }
  }

  /** Settles the purchase like a caller that read it just now. */
  async function settle(purchase: Payment): Promise<Payment> {
    const known = await getPayment(given.context, purchase)
    await settleAuthorizations(given.context, { mode: known.mode, payments: [known] })
    return await getPayment(given.context, purchase)
  }

  /** Adds somebody else's transaction that uses the authorizations of these purchases. Returns its hash. */
  function use(
    purchases: readonly [Payment, ...Payment[]],
    change: Partial<FakeReceipt> & { blockNumber: bigint },
  ): TxHash {
    const txHash: TxHash = `0x${randomBytes(32).toString('hex')}`
    const [first, ...others] = purchases
    const sender = `0x${'9'.repeat(40)}` as const
    const receipt = { ...toTransfer(first), others: others.map(toTransfer), sender, ...change }
    given.chains.test.receipts.set(txHash, receipt)
    return txHash
  }

  function toTransfer({ mode, walletAddress: from, amountMicro, authorization }: Payment): FakeTransfer {
    const transfer = { contract: given.config.chains[mode].usdc, from, to: RECIPIENT, amountMicro }
    return authorization === null ? transfer : { ...transfer, authorization: authorization.nonce }
  }

  /**
   * Sets the chain's time, so that the newest block with enough confirmations is this many seconds after the end of the
   * authorization.
   */
  function showTime(purchase: Payment, afterSeconds: bigint): void {
    const chain = given.chains.test
    const deep = chain.head - BigInt(CONFIRMATIONS) + 1n
    chain.startSeconds = secondsOf(purchase) + afterSeconds - deep * SECONDS_PER_BLOCK
  }
})

function secondsOf({ authorization }: Payment): bigint {
  return BigInt(authorization?.validBefore.getTime() ?? 0) / 1_000n
}

function nonceOf({ authorization }: Payment): `0x${string}` {
  if (authorization === null) throw new Error('not a purchase')
  return authorization.nonce
}

function refuse(): never {
  throw new RpcRefusal(-32000)
}
