import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import { verifyOffer, verifyReceipt } from '../../sandbox/test/support/seller-signatures.ts'
import { openX402Client } from '../../sandbox/test/support/x402-client.ts'
import { hashText } from '../support/context/log-leaves.ts'
import { call } from '../support/http-client.ts'
import { createPayer, makeKeys, type PayerFixture } from '../support/sandbox/payer-fixture.ts'
import { openSandboxFixture, type OwnSandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import {
  createResource,
  readCounters,
  readTakings,
  type SoldResource,
  type WireBehaviour,
} from '../support/sandbox/seller.ts'
import { waitFor } from '../support/wait-for.ts'

const PRICE = 10_000n
const PRICE_USDC = '0.01'
/** Longer than the longest validity of an x402 authorization. */
const PAST_EVERY_AUTHORIZATION_SECONDS = 130

/** A response of `POST /v1/x402/pay` or `GET /v1/payments/{id}`, or an error. */
interface WirePurchase {
  readonly payment: { readonly id: string; readonly status: string; readonly failure_code: string | null }
  readonly response: object | null
  readonly delivery: string | null
  readonly error?: { readonly code: string }
}

interface Row {
  readonly title: string
  readonly behaviour: WireBehaviour
  /** The headers of the agent's request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The error code of the request, or else the response's `delivery`, which says what happened to the goods. */
  readonly answer: string
  /** Whether the seller is paid. */
  readonly isPaid: boolean
  /** Whether an authorization is signed. If so, the seller receives exactly one. True by default. */
  readonly isSigned?: boolean
}

const ROWS: readonly Row[] = [
  { title: 'x402, version 2', behaviour: {}, answer: 'delivered', isPaid: true },
  { title: 'x402, version 1', behaviour: { protocol: 'x402_v1' }, answer: 'delivered', isPaid: true },
  { title: 'MPP', behaviour: { protocol: 'mpp' }, answer: 'delivered', isPaid: true },
  { title: 'MPP and x402 at once', behaviour: { protocol: 'mpp_and_x402' }, answer: 'delivered', isPaid: true },
  {
    title: 'MPP beside a bearer token',
    behaviour: { protocol: 'mpp_beside_bearer' },
    headers: { authorization: 'Bearer token' },
    answer: 'delivered',
    isPaid: true,
  },
  { title: 'the money first', behaviour: { flow: 'upfront' }, answer: 'delivered', isPaid: true },
  { title: 'a handler that fails', behaviour: { faults: ['handler_fails'] }, answer: 'failed', isPaid: false },
  {
    title: 'a handler that fails after the money',
    behaviour: { flow: 'upfront', faults: ['handler_fails'] },
    answer: 'failed',
    isPaid: true,
  },
  {
    title: 'a facilitator that does not see the receipt',
    behaviour: { faults: ['receipt_wait_fails'] },
    answer: 'failed',
    isPaid: true,
  },
  {
    title: 'a facilitator whose answer is lost',
    behaviour: { faults: ['settle_answer_lost'] },
    answer: 'failed',
    isPaid: true,
  },
  { title: 'a facilitator that is too slow', behaviour: { faults: ['settle_late'] }, answer: 'failed', isPaid: true },
  { title: 'a settlement that fails', behaviour: { faults: ['settle_fails'] }, answer: 'failed', isPaid: false },
  { title: 'an offer of 30 days', behaviour: { max_timeout_seconds: 2_592_000 }, answer: 'delivered', isPaid: true },
  {
    title: 'a price that is raised after the check',
    behaviour: { faults: ['price_raised'] },
    answer: 'failed',
    isPaid: false,
  },
  { title: 'a payee that changes', behaviour: { faults: ['payee_changed'] }, answer: 'failed', isPaid: false },
  {
    title: 'other offers beside ours',
    behaviour: { offers: ['gateway', 'permit2', 'own'] },
    answer: 'delivered',
    isPaid: true,
  },
  { title: 'an answer of 20 MB', behaviour: { faults: ['answer_huge'] }, answer: 'delivered', isPaid: true },
  {
    title: 'a slow answer',
    behaviour: { faults: ['answer_slow'], delay_ms: 2_000 },
    answer: 'delivered',
    isPaid: true,
  },
  { title: 'an answer that is sent twice', behaviour: { faults: ['answer_twice'] }, answer: 'delivered', isPaid: true },
  ...(
    [
      'gateway',
      'permit2',
      'foreign_asset',
      'foreign_network',
      'unknown_flow',
      'unknown_scheme',
      'other_domain',
    ] as const
  ).map((offer) => ({
    title: `only the offer ${offer}`,
    behaviour: { offers: [offer] },
    answer: 'payment_option_unsupported',
    isPaid: false,
    isSigned: false,
  })),
  {
    title: 'an offer of 5 s',
    behaviour: { max_timeout_seconds: 5 },
    answer: 'payment_option_unsupported',
    isPaid: false,
    isSigned: false,
  },
  {
    title: 'a page for people',
    behaviour: { faults: ['html_paywall'] },
    answer: 'payment_protocol_unknown',
    isPaid: false,
    isSigned: false,
  },
  {
    title: 'an offer that cannot be read',
    behaviour: { faults: ['malformed_offer'] },
    answer: 'payment_option_unsupported',
    isPaid: false,
    isSigned: false,
  },
  {
    title: 'a redirect to a private address',
    behaviour: { faults: ['redirect'], redirect_to: 'https://10.0.0.1/' },
    answer: 'resource_url_not_allowed',
    isPaid: false,
    isSigned: false,
  },
]

describe('purchases from a seller of the x402 project and of MPP, in a sandbox', () => {
  let fixture: OwnSandboxFixture
  let payer: PayerFixture
  let keys: readonly string[]
  /** The purchases that the tests made with a signed authorization. `isPaid` says whether the seller must be paid. */
  const bought: { readonly title: string; readonly id: string; readonly isPaid: boolean }[] = []
  before(async () => {
    // The last test moves the time of a chain.
    fixture = await openSandboxFixture()
    payer = await createPayer(fixture, { grant: { x402: true } })
    keys = await makeKeys(fixture, payer, 4)
  })
  after(() => fixture.close())

  /** Buys a resource. The rows take turns with the keys, because each key may pay only 30 times a minute. */
  async function buy(
    { url }: SoldResource,
    { key, id = url.slice(-40), headers = {} }: { key: number; id?: string; headers?: Row['headers'] },
  ): Promise<WirePurchase> {
    const { agentId, wallet } = payer
    const terms = { agent_id: agentId, wallet, max_amount_usdc: PRICE_USDC, idempotency_key: id }
    const { text } = await call(fixture.baseUrl, 'POST', '/v1/x402/pay', {
      key: keys[key % keys.length] ?? payer.key,
      body: { url, headers, ...terms },
    })
    return JSON.parse(text) as WirePurchase
  }

  for (const [index, row] of ROWS.entries()) {
    test(`${row.title}: ${row.answer}, ${row.isPaid ? 'paid once' : 'not paid'}`, async () => {
      const resource = await createResource(fixture, { price_usdc: PRICE_USDC, ...row.behaviour })
      const first = await buy(resource, { key: index, headers: row.headers })
      assert.equal(first.error?.code ?? first.delivery, row.answer, JSON.stringify(first))
      const { isSigned = true } = row
      if (isSigned) bought.push({ title: row.title, id: first.payment.id, isPaid: row.isPaid })
      const again = await buy(resource, { key: index, headers: row.headers })
      assert.deepEqual([again.error?.code, again.response], [first.error?.code, first.response])
      await waitFor(
        'the seller is paid as expected',
        async () => (await readTakings(fixture, resource)) === (row.isPaid ? PRICE : 0n),
      )
      const { authorizations } = await readCounters(fixture, resource)
      assert.equal(authorizations, isSigned ? 1 : 0)
    })
  }

  test('the client of the x402 project pays twice for a lost response; one idempotency key pays once', async () => {
    const lossy: WireBehaviour = { price_usdc: PRICE_USDC, faults: ['answer_lost'], fault_count: 1 }
    const [theirs, ours] = [await createResource(fixture, lossy), await createResource(fixture, lossy)]
    const buyer = privateKeyToAccount(generatePrivateKey())
    await fixture.control('/faucet', { mode: 'test', address: buyer.address, amount_usdc: '1' })
    const { id: chainId } = fixture.sandbox.facts.chains.test
    const paidFetch = openX402Client(buyer, chainId)
    await assert.rejects(paidFetch(theirs.url))
    assert.equal((await paidFetch(theirs.url)).status, 200)
    await waitFor('the seller is paid as expected', async () => (await readTakings(fixture, theirs)) === 2n * PRICE)

    const first = await buy(ours, { key: 1 })
    const again = await buy(ours, { key: 1 })
    bought.push({ title: 'a lost response', id: first.payment.id, isPaid: true })
    assert.equal(again.payment.id, first.payment.id)
    await waitFor('the seller is paid as expected', async () => (await readTakings(fixture, ours)) === PRICE)
    assert.equal((await readCounters(fixture, ours)).authorizations, 1)
  })

  test('an agent that lost our answer gets the goods by its retry, and pays once', async () => {
    const resource = await createResource(fixture, {
      ...{ price_usdc: PRICE_USDC, faults: ['answer_slow'], delay_ms: 1_500 },
    })
    const lost = new AbortController()
    const { agentId, wallet } = payer
    const terms = { agent_id: agentId, wallet, max_amount_usdc: PRICE_USDC, idempotency_key: resource.id }
    const request = fetchOnce(`${fixture.baseUrl}/v1/x402/pay`, {
      method: 'POST',
      headers: { authorization: `Bearer ${payer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: resource.url, ...terms }),
      signal: lost.signal,
    })
    await waitFor('the seller has the payment header', async () => {
      return (await readCounters(fixture, resource)).paid_requests === 1
    })
    lost.abort()
    await assert.rejects(request)
    const again = await buy(resource, { key: 0, id: resource.id })
    bought.push({ title: 'an answer that the agent lost', id: again.payment.id, isPaid: true })
    assert.equal(again.delivery, 'delivered')
    assert.notEqual(again.response, null)
    await waitFor('the seller is paid', async () => (await readTakings(fixture, resource)) === PRICE)
    const { authorizations, paid_requests: requests } = await readCounters(fixture, resource)
    assert.deepEqual([authorizations, requests], [1, 1])
  })

  test("the seller's signed offer and receipt are kept, and the log has their hashes", async () => {
    const seller = await createResource(fixture, {})
    const url = new URL('/quote', seller.url).href
    const { agentId, wallet, key } = await createPayer(fixture, { grant: { x402: true } })
    const terms = { agent_id: agentId, wallet, max_amount_usdc: '0.05', idempotency_key: 'quote' }
    const answer = await call(fixture.baseUrl, 'POST', '/v1/x402/pay', { key, body: { url, ...terms } })
    const { payment, delivery } = JSON.parse(answer.text) as WirePurchase
    assert.equal(delivery, 'delivered', answer.text)
    const readLeaf = async () => {
      const text = `select content from log_leaves where subject = $1 and type = 'purchase.answered'`
      return (await fixture.query(text, [payment.id]))[0]
    }
    await waitFor('the leaf', async () => (await readLeaf()) !== undefined)
    const leaf = JSON.parse(String((await readLeaf())?.['content'])) as Readonly<Record<string, string | number>>
    const [row] = await fixture.query(
      'select first_answer, to_address from purchases u join payments p on p.id = u.payment_id where p.id = $1',
      [payment.id],
    )
    assert.ok(row !== undefined)
    const { at, offer, receipt } = row['first_answer'] as { readonly at: string; offer: string; receipt: string }
    const hashed = (name: string, text: string): string => hashText(leaf['salt'], name, text)
    const { body } = (JSON.parse(answer.text) as { readonly response: { readonly body: string } }).response
    assert.deepEqual(leaf, {
      ...{ v: 1, type: 'purchase.answered', workspace: leaf['workspace'], mode: 'test', subject: payment.id },
      ...{ salt: leaf['salt'], at, status: 200, delivery: 'delivered', protocol: 'x402_v2', method: 'GET' },
      response_sha256: createHash('sha256').update(body).digest('base64url'),
      resource_url_hash: hashed('resource_url', url),
      ...{ offer_hash: hashed('offer', offer), receipt_hash: hashed('receipt', receipt) },
    })
    const [byOffer, byReceipt] = [await verifyOffer(offer), await verifyReceipt(receipt)]
    assert.deepEqual([byOffer.signer, byReceipt.signer], [row['to_address'], row['to_address']])
    assert.deepEqual([byOffer.payload.amount, byOffer.payload.resourceUrl], ['50000', url])
    const { payer: paidBy, resourceUrl, network } = byReceipt.payload
    const { id: chainId } = fixture.sandbox.facts.chains.test
    assert.deepEqual([paidBy.toLowerCase(), resourceUrl, network], [wallet.toLowerCase(), url, `eip155:${chainId}`])
  })

  test('every purchase ends as the chain says, and what was not paid is given back only then', async () => {
    const read = async (id: string): Promise<WirePurchase> =>
      JSON.parse((await call(fixture.baseUrl, 'GET', `/v1/payments/${id}`, { key: payer.key })).text) as WirePurchase
    for (const { id, title } of bought.filter(({ isPaid }) => isPaid)) {
      await waitFor(title, async () => (await readOutcome(id)) === 'confirmed')
    }
    const unpaid = bought.filter(({ isPaid }) => !isPaid)
    assert.ok(unpaid.length > 0)
    for (const { id, title } of unpaid) assert.equal((await read(id)).payment.status, 'pending', title)
    assert.equal(await readSpentMicro(), PRICE * BigInt(bought.length))
    await moveChain(PAST_EVERY_AUTHORIZATION_SECONDS)
    for (const { id, title } of unpaid) {
      await waitFor(title, async () => (await readOutcome(id)) === 'authorization_expired')
    }
    assert.equal(await readSpentMicro(), PRICE * BigInt(bought.length - unpaid.length))
  })

  /** Reads why the payment failed, or else its status. Reads the database, because polling the API is rate-limited. */
  async function readOutcome(id: string): Promise<string> {
    const [row] = await fixture.query('select coalesce(failure_code, status) as outcome from payments where id = $1', [
      id,
    ])
    return String(row?.['outcome'])
  }

  /** Returns the amount that counts as spent in the 24-hour window of the payer's grant. */
  async function readSpentMicro(): Promise<bigint> {
    const [row] = await fixture.query(
      `select coalesce(sum(amount_micro), 0)::text as spent from payments
        where wallet_address = $1 and status <> 'failed'`,
      [payer.wallet],
    )
    return BigInt(String(row?.['spent']))
  }

  async function moveChain(seconds: number): Promise<void> {
    await fixture.chains.test.call('evm_increaseTime', [seconds])
  }
})
