import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { expectPayment } from '../../../../test/support/context/expect-outcome.ts'
import { offerOf, seedBuyer } from '../../../../test/support/context/seed-buyer.ts'
import { address, paymentRequest, RECIPIENT, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { hold } from '../../../../test/support/database/hold-table.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { startFakeSeller, type FakeSeller } from '../../../../test/support/wires/fake-seller.ts'
import { microUsdc } from '../../values/money.ts'
import type { Context } from '../context.ts'
import { referenceId } from '../payments/derived-ids.ts'
import { getPayment } from '../payments/get-payment.ts'
import type { Payment } from '../payments/payment.ts'
import { getPaymentRecord } from '../reports/timeline/get-payment-record.ts'
import { settlePayments } from '../payments/settle-payments.ts'
import { payForResource, type ResourceOutcome } from '../purchases/pay-for-resource.ts'
import { compareLedger } from '../unexplained-transfers/compare-ledger.ts'
import { lockWallet } from '../wallets/wallets-store.ts'
import { createPayment, type PaymentOutcome } from './create-payment.ts'

const OTHER = address('0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC')

/**
 * A restored database is made in this way: the payments of a workspace are deleted, the enclave and the chain keep what
 * they have, and the process has not compared the ledger with the chain yet.
 */
describe('a payment that a restored database has forgotten', () => {
  let given: TestContext
  let other: Context
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
    other = given.openAnother()
    given.chains.test.startSeconds = BigInt(Math.floor(given.clock.now().getTime() / 1_000)) - 1_000n
    await compareLedger(given.context, { mode: 'test' })
  })
  beforeEach(() => {
    given.enclave.behave = () => 'sign'
    given.enclave.blind = false
    given.clock.setOffset(0)
  })
  after(() => given.close())

  test('is found by its key, and never paid twice', async () => {
    const seeded = await seed(given.context)
    const lost = await payAndForget(seeded, { key: 'lost', amountUsdc: '1.50' })
    const found = expectPayment(await pay(seeded, { key: 'lost', amountUsdc: '1.50' }), 'replayed')
    assert.deepEqual([found.txHash, found.to, found.amountMicro], [lost.txHash, lost.to, lost.amountMicro])
    assert.equal(countRequests(seeded, 'lost'), 1)
    await settlePayments(given.context, { mode: 'test', payments: [found] })
    assert.equal((await getPayment(given.context, found)).status, 'confirmed')
    const [row] = await readRows(given.context.db, 'select recovered_at from payments where id = $1', [found.id])
    assert.ok(row?.['recovered_at'] instanceof Date)
    const record = await getPaymentRecord(given.context, found)
    assert.deepEqual([record.payment.id, record.admission], [found.id, null])
  })

  test('is recorded with the payee and the amount of the chain, not of the request', async () => {
    const seeded = await seed(given.context)
    const lost = await payAndForget(seeded, { key: 'lost', amountUsdc: '2' })
    const request = { ...paymentRequest(seeded, { amountUsdc: '7', idempotencyKey: 'lost' }), to: OTHER }
    const found = expectPayment(await createPayment(given.context, request), 'replayed')
    assert.deepEqual([found.txHash, found.to, found.amountUsdc], [lost.txHash, RECIPIENT, '2'])
    assert.equal(countRequests(seeded, 'lost'), 1)
  })

  test('of 20 concurrent retries in two processes, all get the same payment', async () => {
    const seeded = await seed(given.context)
    const lost = await payAndForget(seeded, { key: 'lost', amountUsdc: '1' })
    other.ledger.compared.clear()
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        pay(seeded, { key: 'lost', amountUsdc: '1' }, index % 2 === 0 ? given.context : other),
      ),
    )
    const payments = outcomes.map((outcome) => expectPayment(outcome, 'replayed'))
    assert.equal(new Set(payments.map(({ id, txHash }) => `${id} ${txHash}`)).size, 1)
    assert.equal(payments[0]?.txHash, lost.txHash)
    assert.equal(countRequests(seeded, 'lost'), 1)
  })

  test('counts towards the 24-hour limit, before its key comes back and afterwards', async () => {
    const seeded = await seed(given.context, { maxPerTx: '10', dailyCap: '10' })
    await payAndForget(seeded, { key: 'lost', amountUsdc: '7' })
    const tooMuch = await pay(seeded, { key: 'new', amountUsdc: '3.01' })
    assert.equal(tooMuch.kind === 'refused' && tooMuch.refusal.code, 'daily_cap_exceeded')
    expectPayment(await pay(seeded, { key: 'new', amountUsdc: '1' }), 'created')
    expectPayment(await pay(seeded, { key: 'lost', amountUsdc: '7' }), 'replayed')
    const stillTooMuch = await pay(seeded, { key: 'newer', amountUsdc: '2.01' })
    assert.equal(stillTooMuch.kind === 'refused' && stillTooMuch.refusal.code, 'daily_cap_exceeded')
    expectPayment(await pay(seeded, { key: 'newer', amountUsdc: '2' }), 'created')
  })

  test('counts for every agent of its wallet, since only its key says who paid', async () => {
    const seeded = await seed(given.context, { maxPerTx: '10', dailyCap: '10' })
    const lost = await payAndForget(seeded, { key: null, amountUsdc: '9' })
    const refused = await pay(seeded, { key: null, amountUsdc: '1.01' })
    assert.equal(refused.kind === 'refused' && refused.refusal.code, 'daily_cap_exceeded')
    const rows = await readRows(given.context.db, 'select tx_hash from unexplained_transfers where workspace_id = $1', [
      seeded.workspace.id,
    ])
    assert.deepEqual(rows, [{ tx_hash: lost.txHash }])
  })

  test('is noticed by a process that goes on while its database is replaced', async () => {
    const seeded = await seed(given.context, { maxPerTx: '10', dailyCap: '10' })
    const lost = await payAndForget(seeded, { key: 'lost', amountUsdc: '7', isRestarted: false })
    const tooMuch = await pay(seeded, { key: 'new', amountUsdc: '3.01' })
    assert.equal(tooMuch.kind === 'refused' && tooMuch.refusal.code, 'daily_cap_exceeded')
    const found = expectPayment(await pay(seeded, { key: 'lost', amountUsdc: '7' }), 'replayed')
    assert.deepEqual([found.txHash, countRequests(seeded, 'lost')], [lost.txHash, 1])
  })

  test('is noticed if many requests arrive at once', async () => {
    const seeded = await seed(given.context, { maxPerTx: '10', dailyCap: '10' })
    const others = await Promise.all([seed(given.context), seed(given.context), seed(given.context)])
    await payAndForget(seeded, { key: 'lost', amountUsdc: '7', isRestarted: false })
    const outcomes = await Promise.all([
      pay(seeded, { key: 'new', amountUsdc: '3.01' }),
      ...others.map((one) => pay(one, { key: 'one', amountUsdc: '1' })),
      pay(seeded, { key: 'lost', amountUsdc: '7' }),
    ])
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['refused', 'created', 'created', 'created', 'replayed'],
    )
  })

  test('is not paid while the enclave cannot be asked: 503, and nothing is recorded', async () => {
    const seeded = await seed(given.context)
    await payAndForget(seeded, { key: 'lost', amountUsdc: '1' })
    given.enclave.blind = true
    await assert.rejects(pay(seeded, { key: 'lost', amountUsdc: '1' }), { type: 'unavailable' })
    assert.equal(await countPayments(seeded), 0)
    given.enclave.blind = false
    expectPayment(await pay(seeded, { key: 'lost', amountUsdc: '1' }), 'replayed')
  })

  test('is not recorded before it is mined, because only the chain shows what it paid: 503', async () => {
    const seeded = await seed(given.context, { maxPerTx: '10', dailyCap: '10' })
    await payAndForget(seeded, { key: 'mined', amountUsdc: '8' })
    const lost = await payAndForget(seeded, { key: 'lost', amountUsdc: '2', isMined: false })
    const another = { ...paymentRequest(seeded, { amountUsdc: '7', idempotencyKey: 'lost' }), to: OTHER }
    for (const request of [another, paymentRequest(seeded, { amountUsdc: '2', idempotencyKey: 'lost' })]) {
      await assert.rejects(createPayment(given.context, request), { type: 'unavailable' })
    }
    assert.equal(await countPayments(seeded), 0)
    land(seeded, { txHash: lost.txHash, amountMicro: lost.amountMicro })
    const found = expectPayment(await createPayment(given.context, another), 'replayed')
    assert.deepEqual([found.txHash, found.to, found.amountUsdc], [lost.txHash, RECIPIENT, '2'])
    assert.equal(countRequests(seeded, 'lost'), 1)
  })

  test('that failed, as the enclave reports, is recorded with its hash, and not sent again', async () => {
    const seeded = await seed(given.context)
    await payAndForget(seeded, { key: 'mined', amountUsdc: '1' })
    const lost = await payAndForget(seeded, { key: 'lost', amountUsdc: '1', isMined: false })
    const reference = referenceId({ workspaceId: seeded.workspace.id, mode: 'test', idempotencyKey: 'lost', id: '' })
    given.enclave.told.set(reference, { status: 'execution_reverted', txHash: lost.txHash })
    const found = expectPayment(await pay(seeded, { key: 'lost', amountUsdc: '1' }), 'created')
    assert.deepEqual([found.txHash, found.status], [lost.txHash, 'pending'])
    assert.equal(countRequests(seeded, 'lost'), 1)
  })

  test('counts once if its key comes back while the ledger is compared', async (t) => {
    const seeded = await seed(given.context, { maxPerTx: '10', dailyCap: '10' })
    const lost = await payAndForget(seeded, { key: 'lost', amountUsdc: '6', isMined: false })
    // Both processes have compared the ledger before the transfer is mined.
    for (const ctx of [given.context, other])
      expectPayment(await pay(seeded, { key: null, amountUsdc: '1' }, ctx), 'created')
    land(seeded, { txHash: lost.txHash, amountMicro: lost.amountMicro })
    const release = await hold(given.context.db, lockWallet(seeded.workspace.id, 'test', seeded.wallet))
    t.after(release)
    // This enclave has no stored response, and refuses the reference id. The retry below finds the transfer.
    const paid = assert.rejects(pay(seeded, { key: 'lost', amountUsdc: '6' }, other), { code: 'privy_call_failed' })
    await waitFor('the payment to wait', async () => (await countWaiting()) === 1)
    const compared = compareLedger(given.context, { mode: 'test' })
    await waitFor('the comparison to wait', async () => (await countWaiting()) === 2)
    await release()
    await Promise.all([paid, compared])
    const found = expectPayment(await pay(seeded, { key: 'lost', amountUsdc: '6' }, other), 'replayed')
    assert.equal(found.txHash, lost.txHash)
    assert.equal(await countUnexplained(seeded), 0)
  })

  test('is not recorded for an agent without a grant on its wallet, and not paid either', async () => {
    const seeded = await seed(given.context)
    await payAndForget(seeded, { key: 'lost', amountUsdc: '1' })
    await readRows(
      given.context.db,
      `update grants set status = 'revoked', revoked_at = activated_at where workspace_id = $1`,
      [seeded.workspace.id],
    )
    const outcome = await pay(seeded, { key: 'lost', amountUsdc: '1' })
    assert.equal(outcome.kind === 'refused' && outcome.refusal.code, 'permission_not_found')
    assert.equal(countRequests(seeded, 'lost'), 1)
  })

  test('a transfer of zero, which anyone can make in the name of a wallet, is ignored', async () => {
    const seeded = await seed(given.context)
    land(seeded, { txHash: randomHash(), amountMicro: 0n })
    given.context.ledger.compared.clear()
    expectPayment(await pay(seeded, { key: 'one', amountUsdc: '1' }), 'created')
    assert.equal(await countUnexplained(seeded), 0)
  })

  test('payments that the ledger explains are not unexplained: confirmed, pending, or without a hash', async () => {
    const seeded = await seed(given.context)
    const paid = expectPayment(await pay(seeded, { key: 'paid', amountUsdc: '1' }), 'created')
    land(seeded, { txHash: paid.txHash, amountMicro: 1_000_000n })
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(pay(seeded, { key: 'unknown', amountUsdc: '2' }), { code: 'privy_call_failed' })
    land(seeded, { txHash: randomHash(), amountMicro: 2_000_000n })
    await compareLedger(given.context, { mode: 'test' })
    assert.equal(await countUnexplained(seeded), 0)
  })

  test('a payment that is still unknown explains one transfer, not two', async () => {
    const seeded = await seed(given.context)
    const paid = expectPayment(await pay(seeded, { key: 'paid', amountUsdc: '1' }), 'created')
    land(seeded, { txHash: paid.txHash, amountMicro: 1_000_000n })
    await settlePayments(given.context, { mode: 'test', payments: [paid] })
    land(seeded, { txHash: randomHash(), amountMicro: 1_000_000n })
    await compareLedger(given.context, { mode: 'test' })
    assert.equal(await countUnexplained(seeded), 1)
  })

  describe('if it is a purchase', () => {
    let seller: FakeSeller
    before(async () => {
      seller = await startFakeSeller()
      seller.accepts = [offerOf(given.context, { maxTimeoutSeconds: 120 })]
    })
    after(() => seller.close())

    test('is found by its nonce, and the seller is not paid again', async () => {
      const buyer = await seedBuyer(given)
      const lost = await buyAndForget(buyer, 'lost')
      const paid = seller.paid.length
      const outcome = await buy(buyer, 'lost')
      assert.ok(outcome.kind === 'replayed')
      const { payment } = outcome.earlier
      assert.deepEqual([payment.authorization?.nonce, payment.amountMicro], [lost.authorization?.nonce, 10_000n])
      assert.equal(seller.paid.length, paid)
      assert.equal(await countUnexplained(buyer), 0)
    })

    test('a lost purchase that never landed is made again with the same nonce', async () => {
      const buyer = await seedBuyer(given)
      await buyAndForget(buyer, 'landed')
      const lost = await buyAndForget(buyer, 'lost', { isMined: false })
      const outcome = await buy(buyer, 'lost')
      assert.ok(outcome.kind === 'bought')
      assert.equal(outcome.state.payment.authorization?.nonce, lost.authorization?.nonce)
    })

    test('under the key of a lost transfer is not made: the transfer is returned', async () => {
      const buyer = await seedBuyer(given)
      const lost = await payAndForget(buyer, { key: 'lost', amountUsdc: '1' })
      const outcome = await buy(buyer, 'lost')
      assert.ok(outcome.kind === 'replayed')
      const { payment, mismatches } = outcome.earlier
      assert.deepEqual([payment.kind, payment.txHash, mismatches[0]], ['transfer', lost.txHash, 'kind'])
    })

    test('a transfer under the key of a lost purchase is not made: 409', async () => {
      const buyer = await seedBuyer(given)
      await buyAndForget(buyer, 'lost')
      await assert.rejects(pay(buyer, { key: 'lost', amountUsdc: '1' }), { type: 'conflict' })
      assert.equal(await countPayments(buyer), 0)
    })

    test('that paid another price than the offer now is told to differ from the request', async () => {
      const buyer = await seedBuyer(given)
      await buyAndForget(buyer, 'lost')
      seller.accepts = [offerOf(given.context, { maxTimeoutSeconds: 120, amount: '20000' })]
      const outcome = await buy(buyer, 'lost')
      seller.accepts = [offerOf(given.context, { maxTimeoutSeconds: 120 })]
      assert.ok(outcome.kind === 'replayed')
      assert.deepEqual([outcome.earlier.payment.amountMicro, outcome.earlier.mismatches], [10_000n, ['url']])
    })

    async function buyAndForget(buyer: Seed, key: string, { isMined = true } = {}): Promise<Payment> {
      const outcome = await buy(buyer, key)
      assert.ok(outcome.kind === 'bought')
      const { payment } = outcome.state
      if (isMined) {
        const authorization = payment.authorization?.nonce
        land(buyer, { txHash: randomHash(), amountMicro: payment.amountMicro, ...(authorization && { authorization }) })
      }
      await forget(buyer)
      return payment
    }

    async function buy(buyer: Seed, key: string): Promise<ResourceOutcome> {
      const terms = {
        ...{ workspaceId: buyer.workspace.id, mode: buyer.mode, agentId: buyer.agentId, wallet: buyer.wallet },
        ...{ maxAmountMicro: microUsdc(1_000_000n), memo: null, idempotencyKey: key },
        ...{ credentialId: null, requestId: null, boundAgentId: null },
      }
      const request = { url: `${seller.url}/goods`, method: 'GET', headers: {}, body: null } as const
      const course = { stopping: new AbortController().signal, onWait: () => undefined }
      return await payForResource(given.context, { terms, request }, course)
    }
  })

  interface Order {
    readonly key: string | null
    readonly amountUsdc: string
  }

  async function pay(seeded: Seed, { key, amountUsdc }: Order, ctx = given.context): Promise<PaymentOutcome> {
    return await createPayment(ctx, paymentRequest(seeded, { amountUsdc, idempotencyKey: key }))
  }

  /** Makes a payment that lands, and deletes it from the database. */
  async function payAndForget(
    seeded: Seed,
    { isMined = true, isRestarted = true, ...order }: Order & { isMined?: boolean; isRestarted?: boolean },
  ): Promise<Payment> {
    const payment = expectPayment(await pay(seeded, order), 'created')
    if (isMined) land(seeded, { txHash: payment.txHash, amountMicro: payment.amountMicro })
    await forget(seeded, { isRestarted })
    return payment
  }

  function land(
    { wallet }: Seed,
    transfer: { txHash: string | null; amountMicro: bigint; authorization?: `0x${string}` },
  ): void {
    const { txHash, ...terms } = transfer
    const chain = given.chains.test
    chain.head += 1n
    const contract = given.context.chains.test.usdc
    chain.receipts.set(txHash ?? '', { contract, from: wallet, to: RECIPIENT, blockNumber: chain.head, ...terms })
  }

  /** Deletes the payments of a workspace. Unless `isRestarted`, the process goes on and does not know. */
  async function forget({ workspace }: Seed, { isRestarted = true } = {}): Promise<void> {
    for (const table of ['purchases', 'payments']) {
      const keep = table === 'payments' ? 'and id not in (select payment_id from purchases)' : ''
      await readRows(given.context.db, `delete from ${table} where workspace_id = $1 ${keep}`, [workspace.id])
    }
    if (isRestarted)
      Object.assign(given.context.ledger, { compared: new Map(), newestPayment: null, missedPayment: null })
  }

  function countRequests({ workspace }: Seed, key: string): number {
    const reference = referenceId({ workspaceId: workspace.id, mode: 'test', idempotencyKey: key, id: '' })
    return given.enclave.requests.filter((request) => request.referenceId === reference).length
  }

  async function countWaiting(): Promise<number> {
    const text = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await readRows(given.context.db, text)).length
  }

  async function countPayments({ workspace }: Seed): Promise<number> {
    const text = 'select count(*) as rows from payments where workspace_id = $1'
    return Number((await readRows(given.context.db, text, [workspace.id]))[0]?.['rows'])
  }

  async function countUnexplained({ workspace }: Seed): Promise<number> {
    const text = 'select count(*) as rows from unexplained_transfers where workspace_id = $1 and payment_id is null'
    return Number((await readRows(given.context.db, text, [workspace.id]))[0]?.['rows'])
  }
})

function randomHash(): string {
  return `0x${randomBytes(32).toString('hex')}`
}
