import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { drop, fail, makePayment, startFakeApi, WALLET, type FakeApi, type WireAnswer } from '../test/fake-api.ts'
import { ConnectionError, IdempotencyMismatchError, PaymentRefusedError, PurchaseUnansweredError } from './main.ts'

const URL_SOLD = 'https://api.example.com/report'
const PAYER = { agentId: 'shopper', wallet: WALLET, maxAmountUsdc: '0.05' }
const GOODS = {
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body: 'goods',
  body_base64: null,
  truncated: false,
}

describe('bursar.fetch', () => {
  let api: FakeApi
  before(async () => {
    api = await startFakeApi()
  })
  afterEach(() => api.reset())
  after(() => api.close())

  /** Makes the service return `answer` as the seller's response, with a payment under the request's idempotency key. */
  function sell(answer: object | null, { delivery = 'delivered', headers = {}, payment: changes = {} } = {}): void {
    api.handle('POST /v1/x402/pay', ({ body }): WireAnswer => {
      const payment = makePayment({ id: 'pay_1', kind: 'x402', idempotency_key: body['idempotency_key'], ...changes })
      return { status: 200, body: { payment, purchase: null, response: answer, delivery }, headers }
    })
  }

  test('returns a real response, and the purchase', async () => {
    sell(GOODS)
    const response = await api.bursar.fetch(URL_SOLD, { headers: { accept: 'text/plain' } }, PAYER)
    assert.ok(response instanceof Response)
    assert.deepEqual([response.status, response.url, response.ok], [200, URL_SOLD, true])
    assert.equal(response.headers.get('content-type'), 'text/plain')
    assert.equal(await response.text(), 'goods')
    const { payment, purchaseId, delivery } = response.purchase
    assert.deepEqual([payment?.id, delivery], ['pay_1', 'delivered'])
    assert.deepEqual(api.received[0]?.body, {
      ...{ url: URL_SOLD, method: 'GET', headers: { accept: 'text/plain' } },
      ...{ agent_id: 'shopper', wallet: WALLET, max_amount_usdc: '0.05', idempotency_key: purchaseId },
    })
  })

  test('sends the same purchase id in every attempt', async () => {
    sell(GOODS)
    api.script(drop({ afterWork: true }), fail(502, { type: 'bad_gateway', code: 'resource_unreachable' }))
    const { purchase } = await api.bursar.fetch(URL_SOLD, undefined, PAYER)
    assert.deepEqual(
      api.received.map(({ body }) => body['idempotency_key']),
      [purchase.purchaseId, purchase.purchaseId, purchase.purchaseId],
    )
  })

  const BODIES: readonly { title: string; body: RequestInit['body'] & {}; sent: object; type: string }[] = [
    { title: 'text', body: 'ü', sent: { body: 'ü' }, type: 'text/plain;charset=UTF-8' },
    {
      title: 'text with a byte order mark',
      body: '\uFEFFa',
      sent: { body: '\uFEFFa' },
      type: 'text/plain;charset=UTF-8',
    },
    {
      title: 'a form',
      body: new URLSearchParams({ a: '1' }),
      sent: { body: 'a=1' },
      type: 'application/x-www-form-urlencoded;charset=UTF-8',
    },
    {
      title: 'bytes',
      body: new Blob([new Uint8Array([255, 0])], { type: 'image/png' }),
      sent: { body_base64: '/wA=' },
      type: 'image/png',
    },
  ]
  for (const { title, body, sent, type } of BODIES) {
    test(`sends ${title} with its type`, async () => {
      sell(GOODS)
      await api.bursar.fetch(URL_SOLD, { method: 'POST', body }, PAYER)
      const { method, headers, body: text, body_base64: base64 } = api.received[0]?.body ?? {}
      assert.equal(method, 'POST')
      assert.deepEqual(headers, { 'content-type': type })
      const found = base64 === undefined ? { body: text } : { body_base64: base64 }
      assert.deepEqual(found, sent)
    })
  }

  test('returns bytes as they are', async () => {
    sell({ ...GOODS, body: null, body_base64: '/wABAg==' })
    const response = await api.bursar.fetch(URL_SOLD, undefined, PAYER)
    assert.deepEqual([...new Uint8Array(await response.arrayBuffer())], [255, 0, 1, 2])
  })

  test('returns a response without a body, and drops headers that no longer describe the body', async () => {
    sell({
      ...GOODS,
      status: 204,
      body: '',
      headers: { 'transfer-encoding': 'chunked', 'content-length': '7', etag: 'a' },
    })
    const response = await api.bursar.fetch(URL_SOLD, undefined, PAYER)
    assert.deepEqual([response.status, response.body], [204, null])
    assert.deepEqual([...response.headers], [['etag', 'a']])
  })

  test('says in which encoding a body is that the service did not decode', async () => {
    sell({ ...GOODS, headers: { 'content-encoding': 'zstd' } })
    const response = await api.bursar.fetch(URL_SOLD, undefined, PAYER)
    assert.equal(response.headers.get('content-encoding'), 'zstd')
  })

  test('fails at the end of a body of which the rest is missing', async () => {
    sell({ ...GOODS, truncated: true })
    const { body } = await api.bursar.fetch(URL_SOLD, undefined, PAYER)
    assert.ok(body !== null)
    const reader = body.getReader()
    assert.equal(new TextDecoder().decode((await reader.read()).value), 'goods')
    await assert.rejects(reader.read(), ConnectionError)
  })

  test('returns an error of the seller as a response', async () => {
    sell({ ...GOODS, status: 500 }, { delivery: 'failed' })
    const response = await api.bursar.fetch(URL_SOLD, undefined, PAYER)
    assert.deepEqual([response.status, response.ok, response.purchase.delivery], [500, false, 'failed'])
  })

  test('returns a response with a status that the platform does not know', async () => {
    for (const status of [0, 99, 600, 999]) {
      sell({ ...GOODS, status }, { delivery: 'failed' })
      const response = await api.bursar.fetch(URL_SOLD, undefined, PAYER)
      assert.deepEqual([response.status, response.ok, await response.text()], [status, false, 'goods'])
    }
  })

  test('returns what costs nothing, without a payment', async () => {
    api.handle('POST /v1/x402/pay', () => ({
      status: 200,
      body: { payment: null, purchase: null, response: GOODS, delivery: null },
    }))
    const response = await api.bursar.fetch(URL_SOLD, undefined, PAYER)
    assert.deepEqual([await response.text(), response.purchase.payment], ['goods', null])
  })

  test('throws if the response of the seller is not known, with the payment and the key', async () => {
    sell(null, { delivery: 'unknown' })
    const call = api.bursar.fetch(URL_SOLD, undefined, { ...PAYER, purchaseId: 'task-1' })
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof PurchaseUnansweredError)
      assert.deepEqual([error.payment?.id, error.delivery, error.idempotencyKey], ['pay_1', 'unknown', 'task-1'])
      return error.outcome === 'unknown'
    })
  })

  test('says that nothing was paid if the payment has failed', async () => {
    sell(null, { delivery: 'unknown', payment: { status: 'failed', failure_code: 'enclave_refused' } })
    const call = api.bursar.fetch(URL_SOLD, undefined, { ...PAYER, purchaseId: 'task-1' })
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof PurchaseUnansweredError)
      assert.match(error.message, /^Nothing was paid .*\(enclave_refused\)\.$/)
      return error.outcome === 'not_paid'
    })
  })

  test('throws if the purchase id belongs to another purchase, or if the price is too high', async () => {
    sell(GOODS, { headers: { 'idempotent-mismatch': 'url, body' } })
    await assert.rejects(api.bursar.fetch(URL_SOLD, undefined, PAYER), (error) => {
      return error instanceof IdempotencyMismatchError && error.fields.join() === 'url,body'
    })
    const details = { price_usdc: '1', max_amount_usdc: '0.05' }
    api.script(fail(400, { type: 'validation_failed', code: 'price_too_high', details }))
    await assert.rejects(api.bursar.fetch(URL_SOLD, undefined, PAYER), (error) => {
      return error instanceof PaymentRefusedError && error.code === 'price_too_high' && error.details.price_usdc === '1'
    })
  })

  test('pays from the only wallet of the credential, and asks if there are several', async () => {
    sell(GOODS)
    const me = { account_slug: 'a', agent_id: 'shopper', wallets: [{ address: WALLET }] }
    api.handle('GET /v1/me', () => ({ status: 200, body: me }))
    await api.bursar.fetch(URL_SOLD, undefined, { maxAmountUsdc: '0.05' })
    const { agent_id: agent, wallet } = api.received[1]?.body ?? {}
    assert.deepEqual([agent, wallet], ['shopper', WALLET])
    me.wallets.push({ address: '0xB' })
    await assert.rejects(api.bursar.fetch(URL_SOLD, undefined, { maxAmountUsdc: '0.05' }), /set wallet/)
    assert.equal(api.received.length, 3)
  })
})
