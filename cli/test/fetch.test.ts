import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { KEY, paymentOf, startFakeService, WALLET, type FakeService } from './support/fake-service.ts'
import { errorOf, openHome, parseOne, type CliResult, type Home } from './support/run-cli.ts'

const URL_OF_GOODS = 'https://shop.example.com/report'
const ANSWER = { status: 200, headers: { 'content-type': 'text/plain' }, body_base64: null, truncated: false }
const PURCHASE = {
  resource_url: URL_OF_GOODS,
  host: 'shop.example.com',
  method: 'GET',
  protocol: 'x402_v2',
  description: 'A report\u001b[2J',
  delivery: 'delivered',
  response_status: 200,
  responded_at: '2026-11-23T01:00:01.000Z',
}

/** `bursar fetch`: the price, the purchase, and what becomes of the body. */
describe('fetch', () => {
  let service: FakeService
  let home: Home
  let sent: Record<string, unknown>[]
  before(async () => {
    service = await startFakeService()
    home = await openHome()
  })
  beforeEach(() => {
    sent = []
  })
  after(async () => {
    await home.close()
    await service.close()
  })
  const run = (args: readonly string[], input = ''): Promise<CliResult> =>
    home.run(['fetch', ...args], { input, env: { BURSAR_URL: service.url, BURSAR_API_KEY: KEY } })
  /** Makes the service return this response of the seller. */
  const sell = (response: object | null, delivery = 'delivered', changes: object = {}): void => {
    service.routes.set('POST /v1/x402/pay', ({ body }) => {
      const params = JSON.parse(body) as Record<string, unknown>
      sent.push(params)
      const key = params['idempotency_key']
      const payment = paymentOf({ kind: 'x402', idempotency_key: key, amount_usdc: '0.01', ...changes })
      return { payment, purchase: { ...PURCHASE, delivery }, response, delivery }
    })
  }
  const price = (change: object): void => {
    service.routes.set('POST /v1/x402/check', ({ body }) => {
      sent.push(JSON.parse(body) as Record<string, unknown>)
      const resource = { url: URL_OF_GOODS, description: null, mime_type: null }
      return {
        status: 402,
        protocol: 'x402_v2',
        resource,
        options: [],
        skipped: [],
        price_usdc: '0.01',
        allowed: null,
        ...change,
      }
    })
  }

  test('without --pay, it asks for the price and says how to buy', async () => {
    price({})
    const result = await run([URL_OF_GOODS, '-X', 'post', '-d', 'q=1', '-H', 'Accept: text/csv'])
    assert.equal(result.code, 0)
    const request = { url: URL_OF_GOODS, method: 'POST', headers: { accept: 'text/csv' }, body: 'q=1' }
    assert.deepEqual(sent, [{ ...request, agent_id: 'robot', wallet: WALLET }])
    const options = ['--request', 'post', '--header', 'Accept: text/csv', '--data', 'q=1']
    assert.deepEqual(parseOne(result.stdout)['next'], [
      'bursar',
      'fetch',
      '--pay',
      '--max',
      '0.01',
      ...options,
      URL_OF_GOODS,
    ])
  })

  test('a price that the limits refuse is exit code 4', async () => {
    const error = { type: 'forbidden', code: 'purchases_not_allowed', message: 'The grant does not allow purchases.' }
    price({ allowed: { allowed: false, error } })
    const result = await run([URL_OF_GOODS, '--no-json'])
    assert.equal(result.code, 4)
    assert.match(result.stdout, /Price +0\.01 USDC[^]*Not allowed: The grant does not allow purchases\./)
  })

  test('a resource that is free says so', async () => {
    price({ status: 200, protocol: null, price_usdc: null })
    assert.match((await run([URL_OF_GOODS, '--no-json'])).stdout, /There is nothing to pay\./)
  })

  test('with --pay, standard output is the body and nothing else', async () => {
    sell({ ...ANSWER, body: 'the goods' })
    const result = await run(['--pay', '--max', '0.05', '--idempotency-key', 'k1', '--memo', 'm', URL_OF_GOODS])
    assert.deepEqual([result.code, result.stdout], [0, 'the goods'])
    const fields = { agent_id: 'robot', wallet: WALLET, max_amount_usdc: '0.05', idempotency_key: 'k1', memo: 'm' }
    assert.deepEqual(sent, [{ url: URL_OF_GOODS, ...fields }])
    const { payment, next } = parseOne(result.stderr)
    assert.equal((payment as { id: string }).id, 'pay_1')
    assert.deepEqual(next, ['bursar', 'payments', 'get', 'pay_1', '--wait'])
  })

  test('people read on standard error what they paid, without control characters of the seller', async () => {
    sell({ ...ANSWER, body: 'the goods' })
    const { stderr } = await run(['--pay', '--max', '0.05', '--purchase-id', 'k1', '--no-json', URL_OF_GOODS])
    assert.match(stderr, /^Paid 0\.01 USDC \(pay_1, pending\)\. Status 200\. The seller says: A report\ufffd\[2J\n$/)
  })

  test('--json puts everything into one answer', async () => {
    sell({ ...ANSWER, body: 'the goods' })
    const { stdout } = await run(['--pay', '--max', '0.05', '--idempotency-key', 'k1', '--json', URL_OF_GOODS])
    assert.equal((parseOne(stdout)['response'] as { body: string }).body, 'the goods')
  })

  test('bytes that are no text arrive unchanged, also in a file', async () => {
    const bytes = Buffer.from([0, 255, 27, 10, 200])
    sell({ ...ANSWER, body: null, body_base64: bytes.toString('base64') })
    const file = join(home.folder, 'goods.bin')
    const result = await run(['--pay', '--max', '0.05', '--idempotency-key', 'k1', '--output', file, URL_OF_GOODS])
    assert.equal(result.code, 0)
    assert.deepEqual(await readFile(file), bytes)
    assert.equal(parseOne(result.stdout)['output'], file)
  })

  test('the body and the headers of the request can come from files and from standard input', async () => {
    sell({ ...ANSWER, body: 'ok' })
    const headers = join(home.folder, 'headers.txt')
    await writeFile(headers, 'Authorization: Bearer abc\n\nX-Two: 2\n')
    await run(
      ['--pay', '--max', '1', '--idempotency-key', 'k1', '-H', `@${headers}`, '-d', '@-', URL_OF_GOODS],
      'from stdin',
    )
    assert.deepEqual(sent[0]?.['headers'], { authorization: 'Bearer abc', 'x-two': '2' })
    assert.deepEqual([sent[0]['body'], sent[0]['method']], ['from stdin', 'POST'])
  })

  test('a header that cannot be read is not shown, because it may be a secret', async () => {
    const result = await run([URL_OF_GOODS, '-H', 'sk_live_secret'])
    assert.equal(result.code, 2)
    assert.doesNotMatch(result.stderr, /sk_live/)
  })

  test('a seller that has not responded: exit code 1, and the command that asks again with the same key', async () => {
    sell(null, 'unknown')
    const result = await run(['--pay', '--max', '0.05', URL_OF_GOODS])
    assert.deepEqual([result.code, result.stdout], [1, ''])
    const { error, next, delivery, idempotency_key: key } = errorOf(result)
    assert.deepEqual([error['code'], delivery, key], ['delivery_unknown', 'unknown', sent[0]?.['idempotency_key']])
    assert.deepEqual((next as string[]).slice(-3), ['--idempotency-key', key, URL_OF_GOODS])
    assert.equal(sent.length, 1)
  })

  test('a payment that failed: exit code 1, and no advice to ask again with the same key', async () => {
    sell(null, 'unknown', { status: 'failed', failure_code: 'enclave_refused' })
    const result = await run(['--pay', '--max', '0.05', URL_OF_GOODS])
    const { error, next } = errorOf(result)
    assert.deepEqual([result.code, error['code']], [1, 'payment_failed'])
    assert.match(String(error['message']), /^Nothing was paid: .*enclave_refused/)
    assert.deepEqual((next as string[]).slice(0, 3), ['bursar', 'payments', 'get'])
  })

  test('a seller that took the money and failed: exit code 1, with its answer', async () => {
    sell({ ...ANSWER, status: 500, body: 'oops' }, 'failed')
    const result = await run(['--pay', '--max', '0.05', '--idempotency-key', 'k1', URL_OF_GOODS])
    assert.deepEqual([result.code, result.stdout], [1, 'oops'])
  })

  test('a status that no standard knows: exit code 1, with the answer', async () => {
    sell({ ...ANSWER, status: 999, body: 'goods' }, 'failed')
    const result = await run(['--pay', '--max', '0.05', '--idempotency-key', 'k1', URL_OF_GOODS])
    assert.deepEqual([result.code, result.stdout], [1, 'goods'])
  })

  test('an answer that broke off: what has arrived, and the command that asks for the rest', async () => {
    sell({ ...ANSWER, body: 'half', truncated: true }, 'unknown')
    const result = await run(['--pay', '--max', '0.05', '--idempotency-key', 'k1', URL_OF_GOODS])
    const { error, next } = errorOf(result)
    assert.deepEqual([result.code, result.stdout, error['code']], [1, 'half', 'truncated'])
    assert.deepEqual((next as string[]).slice(0, 3), ['bursar', 'fetch', '--pay'])
  })

  test('a body that is not complete is a failure', async () => {
    sell({ ...ANSWER, body: 'half', truncated: true })
    const result = await run(['--pay', '--max', '0.05', '--idempotency-key', 'k1', URL_OF_GOODS])
    assert.deepEqual([result.code, result.stdout, errorOf(result).error['code']], [1, 'half', 'truncated'])
  })
})
