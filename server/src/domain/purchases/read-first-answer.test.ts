import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { hashText, logAll, readLeaves } from '../../../../test/support/context/log-leaves.ts'
import { buyAs, offerOf, seedBuyer } from '../../../../test/support/context/seed-buyer.ts'
import type { Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { startFakeSeller, toBase64, type FakeSeller } from '../../../../test/support/wires/fake-seller.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { createLogger } from '../../lib/logger.ts'
import type { Context } from '../context.ts'

describe("the leaf of a seller's response", () => {
  let given: TestContext
  let ctx: Context
  let seller: FakeSeller
  let buyer: Seed
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
    ctx = given.context
  })
  beforeEach(async () => {
    seller = await startFakeSeller()
    seller.accepts = [offerOf(ctx, { maxTimeoutSeconds: 120 })]
    buyer = await seedBuyer(given)
  })
  afterEach(() => seller.close())
  after(() => given.close())

  test('has the status, the hash of the body, and salted hashes of texts', async () => {
    const receipt = { format: 'jws', signature: 'a.b.c' }
    const settled = { success: true, extensions: { 'offer-receipt': { info: { receipt } } } }
    seller.deliver = (response) => response.writeHead(201, { 'payment-response': toBase64(settled) }).end('goods')
    const { payment, purchase } = await pay()
    const [leaf, ...others] = await readAnswers()
    assert.deepEqual(others, [])
    const { salt, ...members } = leaf ?? {}
    assert.deepEqual(members, {
      ...{ v: 1, type: 'purchase.answered', workspace: buyer.workspace.id, mode: 'test', subject: payment.id },
      ...{ at: purchase.respondedAt?.toISOString(), status: 201, delivery: 'delivered', protocol: 'x402_v2' },
      ...{ method: 'GET', resource_url_hash: hashText(salt, 'resource_url', purchase.resourceUrl) },
      response_sha256: createHash('sha256').update('goods').digest('base64url'),
      ...{ offer_hash: null, receipt_hash: hashText(salt, 'receipt', JSON.stringify(receipt)) },
    })
  })

  test('is about the first complete response, also if the agent gets a better one', async () => {
    const held: (() => void)[] = []
    seller.deliver = (response) => {
      if (seller.paid.length === 1) held.push(() => response.writeHead(200).end('goods'))
      else response.writeHead(402).end('used')
    }
    const slow = pay()
    await waitFor('the seller to be paid', () => held.length === 1)
    await readRows(ctx.db, 'update purchases set worked_until = null where workspace_id = $1', [buyer.workspace.id])
    assert.equal((await pay()).answer?.body, 'used')
    const known = await readAnswers()
    assert.deepEqual(
      known.map(({ status, delivery }) => [status, delivery]),
      [[402, 'failed']],
    )
    for (const release of held) release()
    assert.equal((await slow).answer?.body, 'goods')
    assert.equal((await pay()).answer?.body, 'goods')
    assert.deepEqual(await readAnswers(), known)
    assert.equal((await readFirst())['status'], 402)
  })

  test('is missing until a response has arrived completely', async () => {
    seller.deliver = (response) => {
      if (seller.paid.length > 3) response.writeHead(200).end('goods')
      else response.writeHead(200, { 'content-length': 5 }).write('goo', () => response.destroy())
    }
    const { purchase } = await pay()
    assert.equal(purchase.delivery, 'unknown')
    assert.notEqual(purchase.respondedAt, null)
    assert.deepEqual(await readAnswers(), [])
    assert.equal((await pay()).purchase.delivery, 'delivered')
    const [leaf] = await readAnswers()
    assert.equal(leaf?.['response_sha256'], createHash('sha256').update('goods').digest('base64url'))
  })

  test('has no hash of a body that is longer than what is kept, or of what is too large', async () => {
    const lines: object[] = []
    const logger = Object.assign(createLogger('silent'), { warn: (fields: object) => lines.push(fields) })
    const receipt = { format: 'jws', signature: 'a'.repeat(8_200) }
    const settled = { success: true, extensions: { 'offer-receipt': { info: { receipt } } } }
    seller.deliver = (response) =>
      response.writeHead(200, { 'payment-response': toBase64(settled) }).end('x'.repeat(1_024 * 1_024 + 1))
    const { payment, answer } = await pay({ ...ctx, logger })
    assert.equal(answer?.isTruncated, true)
    const [leaf] = await readAnswers()
    assert.deepEqual([leaf?.['response_sha256'], leaf?.['receipt_hash']], [null, null])
    assert.deepEqual(lines, [{ payment: payment.id, request: undefined, what: 'receipt' }])
  })

  function pay(context = ctx) {
    return buyAs(context, buyer, { url: `${seller.url}/goods?secret=1` })
  }

  async function readAnswers() {
    await logAll(ctx)
    const leaves = await readLeaves(ctx.db)
    return leaves
      .filter(({ logId, type }) => logId === buyer.workspace.id && type === 'purchase.answered')
      .map(({ members }) => members)
  }

  async function readFirst() {
    const text = 'select first_answer from purchases where workspace_id = $1'
    const [row] = await readRows(ctx.db, text, [buyer.workspace.id])
    return row?.['first_answer'] as Readonly<Record<string, unknown>>
  }
})
