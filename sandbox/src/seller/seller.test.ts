import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { keccak256, stringToBytes } from 'viem/utils'
import type { PrivateKeyAccount } from 'viem/accounts'
import { fetchOnce } from '../lib/fetch-once.ts'
import { usdcNameOf } from '../chain/deploy-usdc.ts'
import { CHAIN_ID } from '../../test/support/test-grant.ts'
import { openX402Client } from '../../test/support/x402-client.ts'
import { startTestSeller, type TestResource, type TestSeller } from '../../test/support/test-seller.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { Behaviour, Fault } from './behaviour.ts'

const PRICE = 10_000n
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const
/** Authorizations are valid for longer than a settlement takes on a busy machine, also with the fault `settle_late`. */
const VALID_SECONDS = 120

type Json = Readonly<Record<string, unknown>>
interface Offer extends Json {
  readonly payTo: `0x${string}`
  readonly amount: string
}
interface Required extends Json {
  readonly accepts: readonly [Offer, ...Offer[]]
}

let seller: TestSeller

const decode = (header: string | null): Json => JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8')) as Json
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64')

async function readRequired(url: string): Promise<Required> {
  const answer = await fetchOnce(url)
  assert.equal(answer.status, 402)
  await answer.body?.cancel()
  return decode(answer.headers.get('payment-required')) as Required
}

async function signTransfer(
  payer: PrivateKeyAccount,
  terms: { to: `0x${string}`; value: string; nonce?: `0x${string}`; validBefore?: bigint },
) {
  const { to, nonce = `0x${randomBytes(32).toString('hex')}` as const } = terms
  const validBefore = terms.validBefore ?? BigInt(Math.floor(Date.now() / 1_000) + VALID_SECONDS)
  const message = { from: payer.address, to, value: BigInt(terms.value), validAfter: 0n, validBefore, nonce } as const
  const domain = { name: usdcNameOf(CHAIN_ID), version: '2', chainId: CHAIN_ID, verifyingContract: seller.chain.usdc }
  const signature = await payer.signTypedData({
    domain,
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const texts = { value: terms.value, validAfter: '0', validBefore: String(validBefore) }
  return { signature, authorization: { ...message, ...texts } }
}

/** Signs a transfer that pays the first offer, and returns the payment header. */
async function makeHeader(payer: PrivateKeyAccount, required: Required): Promise<string> {
  const [accepted] = required.accepts
  const payload = await signTransfer(payer, { to: accepted.payTo, value: accepted.amount })
  return encode({ x402Version: 2, resource: required['resource'], accepted, payload })
}

async function pay(url: string, header: string): Promise<{ status: number; text: string; receipt: string | null }> {
  const answer = await fetchOnce(url, { headers: { 'PAYMENT-SIGNATURE': header } })
  return { status: answer.status, text: await answer.text(), receipt: answer.headers.get('payment-response') }
}

async function buy(behaviour: Partial<Behaviour>) {
  const [payer, resource] = await Promise.all([seller.makePayer(), seller.create(behaviour)])
  const header = await makeHeader(payer, await readRequired(resource.url))
  return { resource, header, payer, answer: await pay(resource.url, header) }
}

/** Makes a payment header. `send` rejects if the whole answer does not arrive. */
async function prepare(behaviour: Partial<Behaviour>) {
  const [payer, resource] = await Promise.all([seller.makePayer(), seller.create(behaviour)])
  const header = await makeHeader(payer, await readRequired(resource.url))
  return { resource, send: () => pay(resource.url, header) }
}

async function waitForTakings(resource: TestResource, amountMicro: bigint): Promise<void> {
  await waitFor(`${amountMicro} in the till`, async () => (await seller.readTakings(resource)) === amountMicro)
}

/** What the payer sees for each fault, and what the seller was paid. */
const FAULTS: readonly {
  fault: Fault
  more?: Partial<Behaviour>
  status: number
  paid: bigint
  receipt: RegExp | null
}[] = [
  { fault: 'receipt_wait_fails', status: 402, paid: PRICE, receipt: /settlement_pending/ },
  { fault: 'settle_answer_lost', status: 402, paid: PRICE, receipt: /"success":false/ },
  { fault: 'settle_late', more: { delayMs: 3_500 }, status: 502, paid: PRICE, receipt: null },
  { fault: 'settle_fails', status: 402, paid: 0n, receipt: /"success":false/ },
  { fault: 'handler_fails', status: 500, paid: 0n, receipt: null },
  { fault: 'handler_fails', more: { flow: 'upfront' }, status: 500, paid: PRICE, receipt: /"success":true/ },
  { fault: 'price_raised', status: 402, paid: 0n, receipt: null },
  { fault: 'payee_changed', status: 402, paid: 0n, receipt: null },
  { fault: 'answer_slow', more: { delayMs: 50 }, status: 200, paid: PRICE, receipt: /"success":true/ },
  { fault: 'answer_twice', status: 200, paid: PRICE, receipt: /"success":true/ },
]

// The tests run at the same time, to show that payments for different resources do not disturb each other.
describe('the seller', { concurrency: true }, () => {
  before(async () => {
    seller = await startTestSeller()
  })
  after(async () => await seller.stop())

  it('the price list names the goods for programs and for people', async () => {
    const list = (await (await fetchOnce(seller.url)).json()) as { readonly goods: readonly Json[] }
    const prices = list.goods.map((item) => [item['protocol'], item['price_usdc']])
    assert.deepEqual(prices, [
      ['x402_v2', '0.01'],
      ['x402_v2', '0.01'],
      ['x402_v2', '0.05'],
      ['x402_v2', '1'],
      ['x402_v1', '0.01'],
      ['mpp', '0.01'],
    ])
    for (const { url } of list.goods) assert.equal((await fetchOnce(String(url))).status, 402)
    const page = await fetchOnce(`${seller.url}/live`, { headers: { accept: 'text/html' } })
    assert.match(await page.text(), /<td>1 USDC<td>x402_v2/)
    assert.equal((await fetchOnce(`${seller.url}/nothing`)).status, 404)
  })

  it('the client of the x402 project buys in both flows', async () => {
    const payer = await seller.makePayer()
    for (const flow of ['authorization', 'upfront'] as const) {
      const resource = await seller.create({ flow })
      const answer = await openX402Client(payer, CHAIN_ID)(resource.url, { method: 'POST', body: 'what?' })
      assert.deepEqual(
        [answer.status, await answer.json()],
        [200, { goods: resource.id, delivery: 1, method: 'POST', received: 'what?' }],
      )
      assert.equal(decode(answer.headers.get('payment-response'))['success'], true)
      await waitForTakings(resource, PRICE)
      const { requests, paid_requests, authorizations, settlements, deliveries } = await seller.readCounters(resource)
      assert.deepEqual([requests, paid_requests, authorizations, settlements, deliveries], [2, 1, 1, 1, 1])
    }
  })

  it('after a lost response, the client of the x402 project pays a second time', async () => {
    const [payer, resource] = await Promise.all([
      seller.makePayer(),
      seller.create({ faults: ['answer_lost'], faultCount: 1 }),
    ])
    const buyer = openX402Client(payer, CHAIN_ID)
    await assert.rejects(buyer(resource.url), /fetch failed/)
    await waitForTakings(resource, PRICE)
    assert.equal((await buyer(resource.url)).status, 200)
    await waitForTakings(resource, 2n * PRICE)
    const { authorizations, settlements, deliveries } = await seller.readCounters(resource)
    assert.deepEqual([authorizations, settlements, deliveries], [2, 2, 2])
  })

  it('one signature moves the money once, however often it is sent', async () => {
    const { resource, header, answer } = await buy({})
    assert.equal(answer.status, 200)
    assert.deepEqual([(await pay(resource.url, header)).status, await seller.readTakings(resource)], [402, PRICE])
  })

  for (const { fault, more = {}, status, paid, receipt } of FAULTS) {
    it(`${fault} (${more.flow ?? 'authorization'}): the answer is ${status}, and the seller gets ${paid}`, async () => {
      const { resource, answer } = await buy({ faults: [fault], ...more })
      assert.equal(answer.status, status, answer.text)
      if (receipt === null) assert.equal(answer.receipt, null)
      else assert.match(JSON.stringify(decode(answer.receipt)), receipt)
      await waitForTakings(resource, paid)
      const { settlements } = await seller.readCounters(resource)
      assert.equal(settlements, paid === 0n ? 0 : 1)
    })
  }

  it('a huge answer is as large as asked', async () => {
    const { answer } = await buy({ faults: ['answer_huge'], answerBytes: 3_000_000 })
    assert.deepEqual([answer.status, answer.text.length], [200, 3_000_000])
  })

  it('answers that are encoded, broken off, corrupt, slow or of an odd status, after the money', async () => {
    const huge = { faults: ['answer_huge', 'answer_encoded'], answerBytes: 3_000_000 } as const
    const [odd, encoded, bomb, corrupt, dripped, unknown] = await Promise.all([
      buy({ faults: ['answer_status'] }),
      buy({ faults: ['answer_encoded'], encoding: 'br' }),
      buy(huge),
      prepare({ faults: ['answer_corrupt', 'answer_encoded'] }),
      buy({ faults: ['answer_dripped'], delayMs: 100 }),
      buy({ faults: ['answer_encoded'], encoding: 'unknown' }),
    ])
    assert.deepEqual([odd.answer.status, encoded.answer.status, bomb.answer.text.length], [999, 200, 3_000_000])
    for (const { answer, resource } of [odd, encoded, dripped]) assert.match(answer.text, new RegExp(resource.id))
    assert.ok(unknown.answer.text.startsWith('}'), unknown.answer.text)
    await assert.rejects(corrupt.send(), /terminated|fetch failed/)
    for (const fault of ['answer_cut', 'answer_unfinished'] as const) {
      const { send, resource } = await prepare({ faults: [fault] })
      await assert.rejects(send(), /terminated/)
      await waitForTakings(resource, PRICE)
    }
  })

  it('an offer that is encoded or broken off', async () => {
    const encoded = await seller.create({ faults: ['offer_encoded'], protocol: 'x402_v1' })
    const answer = await fetchOnce(encoded.url)
    assert.deepEqual([answer.status, answer.headers.get('content-encoding')], [402, 'gzip'])
    assert.match(await answer.text(), /"x402Version":1/)
    const cut = await seller.create({ faults: ['offer_cut'], protocol: 'x402_v1' })
    await assert.rejects((await fetchOnce(cut.url)).text(), /terminated/)
  })

  it('a seller that remembers its buyers delivers again, and takes the money once', async () => {
    const { resource, header, answer } = await buy({ remembers: true })
    const again = await pay(resource.url, header)
    assert.deepEqual([answer.status, again.status, await seller.readTakings(resource)], [200, 200, PRICE])
    assert.match(again.text, /"delivery":2/)
  })

  it('a redirect has the status that was asked for', async () => {
    const resource = await seller.create({ faults: ['redirect'], redirectStatus: 308, redirectTo: '/elsewhere' })
    const answer = await fetchOnce(resource.url, { method: 'POST', redirect: 'manual' })
    assert.deepEqual([answer.status, answer.headers.get('location')], [308, '/elsewhere'])
  })

  it('answers without an offer that can be read', async () => {
    const [page, malformed, loop, away] = await Promise.all([
      seller.create({ faults: ['html_paywall'] }),
      seller.create({ faults: ['malformed_offer'] }),
      seller.create({ faults: ['redirect'] }),
      seller.create({ faults: ['redirect'], redirectTo: 'http://10.0.0.1/' }),
    ])
    const ask = (resource: TestResource) => fetchOnce(resource.url, { redirect: 'manual' })
    const answers = await Promise.all([ask(page), ask(malformed), ask(loop), ask(away)])
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('payment-required'), headers.get('location')]),
      [
        [402, null, null],
        [402, 'this is not base64!', null],
        [302, null, new URL(loop.url).pathname],
        [302, null, 'http://10.0.0.1/'],
      ],
    )
  })

  it('offers that a payer must skip stand beside the own one, in the order asked for', async () => {
    const offers = [
      'gateway',
      'own',
      'permit2',
      'foreign_asset',
      'foreign_network',
      'unknown_flow',
      'other_domain',
    ] as const
    const resource = await seller.create({ offers, maxTimeoutSeconds: 30 * 24 * 60 * 60 })
    const required = await readRequired(resource.url)
    assert.deepEqual(
      required.accepts.map((offer) => [offer['network'], offer['maxTimeoutSeconds'], JSON.stringify(offer['extra'])]),
      required.accepts.map((_, index) => [
        index === 4 ? 'eip155:137' : `eip155:${CHAIN_ID}`,
        2_592_000,
        [
          '{"name":"GatewayWalletBatched","version":"1","verifyingContract":"0x77777777Dcc4d5A8B6E418Fd04D8997ef11000eE"}',
          '{"name":"USDC","version":"2"}',
          '{"name":"USDC","version":"2","assetTransferMethod":"permit2"}',
          '{"name":"USDC","version":"2"}',
          '{"name":"USDC","version":"2"}',
          '{"name":"USDC","version":"2","paymentFlow":"escrow"}',
          '{"name":"USDC Coin","version":"2"}',
        ][index],
      ]),
    )
    assert.equal(required.accepts.length, offers.length)
    const payer = await seller.makePayer()
    const own = required.accepts[1]
    assert.ok(own !== undefined)
    const answer = await pay(resource.url, await makeHeader(payer, { ...required, accepts: [own] }))
    assert.equal(answer.status, 200)
  })

  it('version 1 of x402 is paid once', async () => {
    const [payer, resource] = await Promise.all([seller.makePayer(), seller.create({ protocol: 'x402_v1' })])
    const offer = (await (await fetchOnce(resource.url)).json()) as { readonly accepts: readonly [Json] }
    const [accepted] = offer.accepts
    const { maxAmountRequired } = accepted
    const payload = await signTransfer(payer, { to: resource.pay_to, value: String(maxAmountRequired) })
    const header = encode({ x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload })
    const send = () => fetchOnce(resource.url, { headers: { 'X-PAYMENT': header } })
    const answer = await send()
    assert.equal(answer.status, 200, await answer.text())
    assert.equal(decode(answer.headers.get('x-payment-response'))['success'], true)
    assert.equal((await send()).status, 402)
    assert.equal(await seller.readTakings(resource), PRICE)
  })

  it('a challenge of MPP is paid once', async () => {
    const [payer, resource] = await Promise.all([seller.makePayer(), seller.create({ protocol: 'mpp' })])
    const asked = await fetchOnce(resource.url)
    assert.deepEqual([asked.status, asked.headers.get('payment-required')], [402, null])
    const header = asked.headers.get('www-authenticate') ?? ''
    const challenge = Object.fromEntries(
      [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    )
    const { id, realm, expires, request } = challenge as Record<'id' | 'realm' | 'expires' | 'request', string>
    const { amount, recipient } = JSON.parse(Buffer.from(request, 'base64url').toString('utf8')) as Record<
      string,
      string
    >
    const { signature, authorization } = await signTransfer(payer, {
      to: recipient as `0x${string}`,
      value: String(amount),
      nonce: keccak256(stringToBytes(id + realm)),
      validBefore: BigInt(Math.floor(Date.parse(expires) / 1_000)),
    })
    const credential = { challenge, payload: { type: 'authorization', ...authorization, signature } }
    const send = () => fetchOnce(resource.url, { headers: { authorization: `Payment ${encode(credential)}` } })
    const answer = await send()
    assert.equal(answer.status, 200, await answer.text())
    assert.match(answer.headers.get('payment-receipt') ?? '', /^\w+/)
    assert.notEqual((await send()).status, 200)
    assert.equal(await seller.readTakings(resource), PRICE)
    assert.equal((await seller.readCounters(resource)).authorizations, 1)
  })

  it('the control endpoints require the token', async () => {
    const answer = await fetchOnce(`${seller.url}/control/resources`, { method: 'POST' })
    assert.equal(answer.status, 401)
  })
})
