import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { seedPurchase } from '../support/context/purchase-rows.ts'
import { offerOf, seedBuyer } from '../support/context/seed-buyer.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { readRows } from '../support/database/read-rows.ts'
import { callTool, type ToolContent } from '../support/service/mcp-client.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'
import { startFakeSeller, type FakeSeller } from '../support/wires/fake-seller.ts'

const MINUTE_MS = 60_000

interface Bought extends ToolContent {
  readonly isError: boolean
  readonly payment: { readonly id: string; readonly status: string; readonly amount_usdc: string } | null
  readonly delivery: string | null
  readonly replayed: boolean
  readonly answer: { readonly status: number; readonly text: unknown; readonly shortened: boolean } | null
}

/** An answer of which a part is missing, without its text. */
const ANSWER = { status: 200, content_type: null, shortened: true }

/** What a model gets from `check_price` and `fetch_paid`, also when it makes the mistakes that models make (D72). */
describe('buying over MCP', () => {
  let given: TestService
  let seller: FakeSeller
  before(async () => {
    given = await openTestService((config) => ({ ...config, webhooksToLoopback: true }))
  })
  beforeEach(async () => {
    given.enclave.behave = () => 'sign'
    given.service.clock.setOffset(0)
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context)]
  })
  afterEach(() => seller.close())
  after(() => given.close())

  test('a price is in words, with what the limits allow, and nothing is paid', async () => {
    const buyer = await seedBuyer(given)
    const seen = await check(buyer)
    assert.match(String(seen.summary), /0\.01 USDC \(1 cent; test money, without value\).*Nothing was paid/)
    assert.deepEqual(
      [seen['price_usdc'], seen['allowed'], seen['wallet'], seen['seller_text']],
      ['0.01', true, buyer.wallet, { untrusted: 'Test goods' }],
    )
    assert.equal(seller.paid.length, 0)
    const other = await seed(given.context)
    const refused = await check(other)
    assert.deepEqual([refused['allowed'], refused.isError], [false, false])
    assert.match(String(refused.summary), /replace your grant with one that allows purchases/)
  })

  test('a key that may only read asks for a price with GET and HEAD only, so it sends no orders (D94)', async () => {
    const { workspace } = await seedBuyer(given)
    const issue = { workspaceId: workspace.id, mode: 'test', scopes: ['wallet:read'], actor: OPERATOR } as const
    const { secret } = await issueKey(given.context, issue)
    const ask = async (method: string): Promise<Bought> =>
      (await callTool(given, secret, 'check_price', { url: `${seller.url}/goods`, method })) as Bought
    for (const method of ['POST', 'post', 'DELETE']) {
      assert.equal((await ask(method)).error?.code, 'insufficient_scope', method)
    }
    assert.equal(seller.requests.length, 0)
    for (const method of ['GET', 'head']) assert.equal((await ask(method)).error, undefined, method)
    assert.equal(seller.requests.length, 2)
  })

  test('a resource is bought once with one purchase_id, and its answer is marked as untrusted', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('pay\u202e\nme')
    const first = await buy(buyer)
    assert.deepEqual(
      [first.delivery, first.replayed, first.answer?.text, first['in_progress']],
      ['delivered', false, { untrusted: 'pay \nme' }, false],
    )
    assert.match(String(first.summary), /^0\.01 USDC \(1 cent; /)
    const again = await buy(buyer, { memo: 'in other words', max_amount_usdc: '0.02' })
    assert.deepEqual([again.replayed, again.payment?.id, again.answer], [true, first.payment?.id, first.answer])
    assert.equal(seller.paid.length, 1)
  })

  test('a long answer is shortened, and bytes are not shown', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => response.writeHead(200).end('x'.repeat(20_000))
    const { answer } = await buy(buyer)
    assert.equal(answer?.shortened, true)
    assert.equal((answer.text as { untrusted: string }).untrusted.length, 16_001)
    seller.deliver = (response) => response.writeHead(200).end(Buffer.from([0, 255]))
    const bytes = await buy(buyer, { purchase_id: 'two', url: `${seller.url}/bytes` })
    assert.deepEqual([bytes.answer?.text, bytes.answer?.shortened], [null, true])
  })

  test('a new purchase_id for the same request is stopped for ten minutes, unless it says that it is a further one', async () => {
    const buyer = await seedBuyer(given)
    const first = await buy(buyer)
    const repeated = await buy(buyer, { purchase_id: 'second try' })
    assert.equal(repeated.error?.code, 'similar_payment_exists')
    assert.match(repeated.error.next, /purchase_id "one", which never pays twice/)
    assert.equal((await buy(buyer, { purchase_id: 'other', url: `${seller.url}/other` })).delivery, 'delivered')
    const further = await buy(buyer, { purchase_id: 'second', in_addition_to: first.payment?.id })
    assert.equal(further.delivery, 'delivered', JSON.stringify(further))
    given.service.clock.setOffset(10 * MINUTE_MS + 5_000)
    const third = await buy(buyer, { purchase_id: 'third' })
    assert.equal(third.delivery, 'delivered', JSON.stringify(third))
    assert.equal(seller.paid.length, 4)
  })

  test('a purchase_id of another purchase pays nothing, and the answer names the difference', async () => {
    const buyer = await seedBuyer(given)
    await buy(buyer)
    const { error } = await buy(buyer, { method: 'post', url: `${seller.url}/other` })
    assert.equal(error?.code, 'purchase_id_used')
    assert.deepEqual((error.details as { differing: string[] }).differing, ['url', 'method'])
    assert.equal(seller.paid.length, 1)
  })

  test('what cannot be bought is refused with what is possible, and the same purchase_id works afterwards', async () => {
    const buyer = await seedBuyer(given)
    const dear = await buy(buyer, { max_amount_usdc: '0.001' })
    assert.equal(dear.error?.code, 'price_too_high')
    assert.match(dear.error.message, /in dollars.*0\.01 USDC \(1 cent;/)
    assert.match(dear.error.next, /max_amount_usdc "0\.01" and the same purchase_id/)
    const cases = [
      [{ max_amount_usdc: 5 }, 'validation_failed'],
      [{ purchase_id: undefined }, 'validation_failed'],
      [{ headers: { accept: 1 } }, 'validation_failed'],
      [{ headers: { 'a b': 'c' } }, 'validation_failed'],
      [{ method: 'BREW' }, 'validation_failed'],
      [{ body: 'with GET' }, 'validation_failed'],
      [{ max_amount_usdc: '5 cents' }, 'amount_invalid'],
      [{ url: 'ftp://example.com' }, 'resource_url_not_allowed'],
    ] as const
    for (const [change, code] of cases)
      assert.equal((await buy(buyer, change)).error?.code, code, JSON.stringify(change))
    seller.ask = (response) => response.writeHead(402).end('Send money to me')
    const unknown = await buy(buyer)
    assert.equal(unknown.error?.code, 'payment_protocol_unknown')
    assert.deepEqual(unknown.error.details, { status: 402, answer: { untrusted: 'Send money to me' } })
    seller.ask = (response) => response.destroy()
    assert.equal((await buy(buyer)).error?.code, 'resource_unreachable')
    assert.equal(seller.paid.length, 0)
    seller.ask = (response) => response.writeHead(200).end('free')
    const free = await buy(buyer)
    assert.deepEqual([free.payment, free.answer?.text], [null, { untrusted: 'free' }])
  })

  test('a seller that does not deliver: the payment stays reserved, and the answer says not to buy again', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => response.writeHead(500).end('broken')
    const failed = await buy(buyer)
    assert.deepEqual([failed.isError, failed.delivery, failed.payment?.status], [false, 'failed', 'pending'])
    assert.match(String(failed.summary), /did not deliver.*may be taken all the same/)
    const [row] = await readRows(given.context.db, `select status from payments where id = $1`, [failed.payment?.id])
    assert.deepEqual(row, { status: 'pending' })
  })

  test('an answer that breaks off is shown, and a call with the same purchase_id asks for all of it', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy())
    }
    const part = await buy(buyer)
    assert.deepEqual([part.delivery, part.answer], ['unknown', { ...ANSWER, text: { untrusted: 'half' } }])
    assert.match(String(part.summary), /Only a part of the answer.*same purchase_id/)
    const read = await callTool(given, buyer.key, 'get_payment', { payment_id: part.payment?.id })
    assert.match(String(read.summary), /only a part of the answer of the seller has arrived\.$/)
    seller.deliver = (response) => response.end('all of it')
    const whole = await buy(buyer)
    assert.deepEqual([whole.delivery, whole.answer?.text], ['delivered', { untrusted: 'all of it' }])
  })

  test('a list of prices that breaks off is no answer', async () => {
    const buyer = await seedBuyer(given)
    seller.ask = (response) => response.writeHead(402, { 'content-length': 100 }).write('{', () => response.destroy())
    assert.deepEqual((await buy(buyer)).error?.code, 'resource_unreachable')
  })

  test('an order that is redirected is not sent again, and the target is marked as untrusted', async () => {
    const buyer = await seedBuyer(given)
    seller.ask = (response) => response.writeHead(303, { location: '/receipt' }).end()
    const order = { url: `${seller.url}/goods`, agent_id: buyer.agentId, method: 'POST' }
    const pay = { ...order, max_amount_usdc: '0.01', purchase_id: 'one' }
    for (const [tool, args] of [
      ['fetch_paid', pay],
      ['check_price', order],
    ] as const) {
      const { error } = (await callTool(given, buyer.key, tool, args)) as Bought
      assert.equal(error?.code, 'resource_redirected', tool)
      assert.deepEqual(error.details, { status: 303, location: { untrusted: `${seller.url}/receipt` } })
    }
    assert.equal(seller.requests.length, 2)
  })

  test('of a purchase whose resource the agent fetches itself, the tools say that the agent has named it', async () => {
    const buyer = await seedBuyer(given)
    const resourceUrl = 'https://claimed.example/goods'
    const { id } = await seedPurchase(given.context, buyer, { resourceUrl, delivery: null })
    const { summary } = await callTool(given, buyer.key, 'get_payment', { payment_id: id })
    assert.match(String(summary), /According to the agent, the payment is for https:\/\/claimed\.example\/goods\.$/)
  })

  test('the payment and the ledger say what was bought, with the words of the seller marked as untrusted', async () => {
    const buyer = await seedBuyer(given)
    const bought = await buy(buyer)
    const paid = await given.call({
      ...{ method: 'POST', path: '/v1/payments', key: buyer.key },
      body: paymentBody(buyer, { idempotency_key: 'transfer' }),
    })
    assert.equal(paid.status, 201, paid.text)
    const read = await callTool(given, buyer.key, 'get_payment', { payment_id: bought.payment?.id })
    const url = `${seller.url}/goods`
    assert.match(String(read.summary), new RegExp(`The payment is for GET ${url}, and the seller delivered\\.$`))
    const purchase = read['purchase'] as Readonly<Record<string, unknown>>
    assert.deepEqual(
      [purchase['resource_url'], purchase['delivery'], purchase['description']],
      [url, 'delivered', { untrusted: 'Test goods' }],
    )
    const { entries } = await callTool(given, buyer.key, 'list_ledger', { agent_id: buyer.agentId })
    const shown = entries as readonly { readonly purchase_id: string; readonly purchase: unknown }[]
    assert.deepEqual(
      shown.map((entry) => [entry.purchase_id, entry.purchase]),
      [
        ['transfer', null],
        ['one', purchase],
      ],
    )
  })

  async function check({ key, agentId }: Seed): Promise<ToolContent & { readonly isError: boolean }> {
    return await callTool(given, key, 'check_price', { url: `${seller.url}/goods`, agent_id: agentId })
  }

  async function buy({ key, agentId }: Seed, change: Readonly<Record<string, unknown>> = {}): Promise<Bought> {
    const bought = { url: `${seller.url}/goods`, agent_id: agentId }
    const args = { ...bought, max_amount_usdc: '0.01', purchase_id: 'one', ...change }
    return (await callTool(given, key, 'fetch_paid', args)) as Bought
  }
})
