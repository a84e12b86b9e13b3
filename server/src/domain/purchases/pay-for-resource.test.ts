import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { buyAs, offerOf, seedBuyer } from '../../../../test/support/context/seed-buyer.ts'
import type { Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { startFakeSeller, type FakeSeller } from '../../../../test/support/wires/fake-seller.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { Context } from '../context.ts'
import { ANSWER_RETENTION_MS, cleanUpOnce } from '../../jobs/clean-up.ts'
import { CLAIM_MS } from './hold-claim.ts'
import type { PurchaseState } from './work-on-purchase.ts'

/**
 * In these tests, a process dies in this way: it waits for an enclave or a seller that does not answer, and its work
 * never continues. A second process continues the purchase after the claim has ended.
 */
describe('a purchase that another process continues', () => {
  let given: TestContext
  let seller: FakeSeller
  let other: Context
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
    other = given.openAnother()
  })
  beforeEach(async () => {
    given.enclave.behave = () => 'sign'
    given.enclave.authorizations.length = 0
    given.clock.setOffset(0)
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context, { maxTimeoutSeconds: 120 })]
  })
  afterEach(() => seller.close())
  after(() => given.close())

  test('after the reservation: the same authorization is signed once, and paid once', async () => {
    const buyer = await seedBuyer(given)
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(pay(given.context, buyer), { code: 'privy_call_failed' })
    // As if the process had died before it could release its claim.
    await setClaim(buyer, new Date(given.clock.now().getTime() + CLAIM_MS))
    given.enclave.behave = () => 'sign'
    const retry = pay(other, buyer)
    await endClaim(buyer)
    assert.equal(answerOf(await retry), 'goods')
    await checkPaidOnce(buyer)
  })

  test('after the signature was stored: the stored header is sent, and nothing is signed again', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => response.destroy()
    assert.equal(answerOf(await pay(given.context, buyer)), null)
    given.enclave.behave = () => 'unavailable'
    seller.deliver = (response) => response.writeHead(200).end('goods')
    assert.equal(answerOf(await pay(other, buyer)), 'goods')
    assert.equal(given.enclave.authorizations.length, 1)
    await checkPaidOnce(buyer)
  })

  test('while a process waits for the seller, a retry waits for it, and gets its answer', async () => {
    const buyer = await seedBuyer(given)
    const held: (() => void)[] = []
    seller.deliver = (response) => held.push(() => response.writeHead(200).end('goods'))
    const first = pay(given.context, buyer)
    await waitFor('the seller to be paid', () => held.length === 1)
    const retry = pay(other, buyer)
    await waitFor('the retry to find the payment', async () => (await countRows(buyer)) === 1)
    for (const release of held) release()
    assert.deepEqual([answerOf(await first), answerOf(await retry)], ['goods', 'goods'])
    assert.equal(seller.paid.length, 1)
  })

  test('when too little time is left, nothing is sent any more', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => response.destroy()
    await pay(given.context, buyer)
    const sent = seller.requests.length
    given.clock.setOffset(115_000)
    const late = await pay(other, buyer)
    assert.equal(answerOf(late), null)
    assert.equal(seller.requests.length, sent)
    assert.deepEqual([late.payment.status, late.purchase.delivery], ['pending', 'unknown'])
  })

  test('an answer that brings the goods replaces one that did not', async () => {
    const buyer = await seedBuyer(given)
    const held: (() => void)[] = []
    seller.deliver = (response) => {
      if (seller.paid.length === 1) held.push(() => response.writeHead(200).end('goods'))
      else response.writeHead(402).end('used')
    }
    const slow = pay(given.context, buyer)
    await waitFor('the seller to be paid', () => held.length === 1)
    await endClaim(buyer)
    assert.equal(answerOf(await pay(other, buyer)), 'used')
    for (const release of held) release()
    assert.equal(answerOf(await slow), 'goods')
    assert.equal(answerOf(await pay(other, buyer)), 'goods')
    await checkPaidOnce(buyer)
  })

  test('a header that never left the service is not sent after the grant has ended', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => response.destroy()
    await pay(given.context, buyer)
    await readRows(given.context.db, 'update purchases set attempts = 0 where workspace_id = $1', [buyer.workspace.id])
    await readRows(given.context.db, 'update grants set suspended_at = $2 where workspace_id = $1', [
      buyer.workspace.id,
      given.clock.now(),
    ])
    const sent = seller.requests.length
    await assert.rejects(pay(other, buyer), { code: 'permission_not_found', details: { reason: 'suspended' } })
    assert.equal(seller.requests.length, sent)
  })

  test('if the wallet has code, its contract must accept the signature', async () => {
    const buyer = await seedBuyer(given)
    given.chains.test.codes.set(buyer.wallet.toLowerCase(), '0xef0100')
    given.chains.test.intercept = ({ method, params }) => {
      const { to } = (params[0] ?? {}) as { to?: string }
      return method === 'eth_call' && to === buyer.wallet ? `0x${'0'.repeat(64)}` : undefined
    }
    await assert.rejects(pay(given.context, buyer), { code: 'privy_call_failed' })
    assert.equal(seller.paid.length, 0)
    given.chains.test.intercept = () => undefined
  })

  test('a signature of another key never leaves the service', async () => {
    const [buyer, stranger] = [await seedBuyer(given), await seedBuyer(given)]
    const key = given.enclave.walletKeys.get(stranger.wallet.toLowerCase())
    assert.ok(key !== undefined)
    given.enclave.walletKeys.set(buyer.wallet.toLowerCase(), key)
    await assert.rejects(pay(given.context, buyer), { code: 'privy_call_failed' })
    assert.equal(seller.paid.length, 0)
  })

  test('answers are deleted after 24 hours, and the purchase stays', async () => {
    const buyer = await seedBuyer(given)
    await pay(given.context, buyer)
    given.clock.setOffset(ANSWER_RETENTION_MS - 60_000)
    await cleanUpOnce(given.context, 'purchases')
    assert.equal(answerOf(await pay(other, buyer)), 'goods')
    given.clock.setOffset(ANSWER_RETENTION_MS + 60_000)
    await cleanUpOnce(given.context, 'purchases')
    const late = await pay(other, buyer)
    assert.equal(answerOf(late), null)
    assert.equal(late.purchase.delivery, 'delivered')
  })

  async function pay(ctx: Context, buyer: Seed): Promise<PurchaseState> {
    return await buyAs(ctx, buyer, { url: `${seller.url}/goods` })
  }

  function answerOf({ answer }: PurchaseState): string | null {
    return answer?.body ?? null
  }

  async function setClaim({ workspace }: Seed, until: Date | null): Promise<void> {
    await readRows(given.context.db, 'update purchases set worked_until = $2 where workspace_id = $1', [
      workspace.id,
      until,
    ])
  }

  /** Ends the claim of a process that will not extend it any more. */
  async function endClaim(buyer: Seed): Promise<void> {
    await setClaim(buyer, null)
  }

  async function countRows({ workspace }: Seed): Promise<number> {
    const [row] = await readRows(given.context.db, 'select count(*) as rows from purchases where workspace_id = $1', [
      workspace.id,
    ])
    return Number(row?.['rows'])
  }

  /** Checks that there is one payment with one nonce, and that one signature left the service. */
  async function checkPaidOnce(buyer: Seed): Promise<void> {
    const rows = await readRows(given.context.db, 'select authorization_nonce from payments where workspace_id = $1', [
      buyer.workspace.id,
    ])
    assert.equal(rows.length, 1)
    const nonces = new Set(given.enclave.authorizations.map(({ message }) => message['nonce']))
    assert.deepEqual([...nonces], [rows[0]?.['authorization_nonce']])
    assert.equal(new Set(seller.paid.map(({ header }) => header)).size, 1)
  }
})
