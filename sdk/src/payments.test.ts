import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import {
  CALL_FAILED,
  CAP_EXCEEDED,
  cut,
  drop,
  fail,
  hang,
  makePayment,
  PARAMS,
  PAYEE,
  RATE_LIMITED,
  raw,
  startFakeApi,
  UNAVAILABLE,
  type Behaviour,
  type FakeApi,
} from '../test/fake-api.ts'
import {
  AbortedError,
  AuthenticationError,
  Bursar,
  BursarError,
  ConnectionError,
  IdempotencyMismatchError,
  InternalServerError,
  PaymentRefusedError,
  RateLimitError,
  TimeoutError,
} from './main.ts'

const ATTEMPTS_MAX = 6

describe('a payment', () => {
  let api: FakeApi
  before(async () => {
    api = await startFakeApi()
  })
  afterEach(() => api.reset())
  after(() => api.close())

  const FAULTS: readonly { readonly title: string; readonly behaviour: Behaviour }[] = [
    { title: 'a request that is lost', behaviour: drop({ afterWork: false }) },
    { title: 'a response that is lost', behaviour: drop({ afterWork: true }) },
    { title: 'a response that is cut', behaviour: cut },
    { title: 'a timeout after the payment', behaviour: hang({ afterWork: true }) },
    { title: 'a timeout before the payment', behaviour: hang() },
    { title: 'a failed call to the enclave', behaviour: fail(500, CALL_FAILED, { afterWork: true }) },
    { title: 'an overload', behaviour: fail(503, UNAVAILABLE) },
    { title: 'too many requests', behaviour: fail(429, RATE_LIMITED) },
    { title: 'an error page of a proxy after the payment', behaviour: raw(502, '<html>Bad gateway</html>') },
    { title: 'a success without a payment', behaviour: raw(201, '{}') },
    { title: 'a success that is no JSON', behaviour: raw(200, '<html>Welcome</html>') },
    { title: "another caller's payment", behaviour: raw(201, '{"payment":{"id":"pay_9","idempotency_key":"other"}}') },
  ]
  for (const { title, behaviour } of FAULTS) {
    test(`is made once in spite of ${title}`, async () => {
      api.script(behaviour, behaviour)
      const { data, attempts } = await api.bursar.payments.create(PARAMS).withResponse()
      assert.equal(attempts, 3)
      assert.deepEqual([...api.payments.values()], [data])
      assert.equal(new Set(api.received.map(({ body }) => body['idempotency_key'])).size, 1)
    })

    test(`has a known or an unknown outcome if every attempt meets ${title}`, async () => {
      api.script(...Array.from({ length: ATTEMPTS_MAX }, () => behaviour))
      const error = await failureOf(api.bursar.payments.create(PARAMS))
      assert.equal(error.attempts, ATTEMPTS_MAX)
      assert.equal(api.received.length, ATTEMPTS_MAX)
      assert.equal(error.idempotencyKey, api.received[0]?.body['idempotency_key'])
      assert.equal(error.outcome, /overload|too many/.test(title) ? 'not_paid' : 'unknown')
      const found = await api.bursar.payments.create({ ...PARAMS, idempotency_key: String(error.idempotencyKey) })
      assert.deepEqual([...api.payments.values()], [found])
    })
  }

  test('that a limit rejects is not retried, and its details belong to its code', async () => {
    api.script(fail(403, CAP_EXCEEDED))
    const error = await failureOf(api.bursar.payments.create(PARAMS))
    assert.ok(error instanceof PaymentRefusedError)
    assert.equal(error.code === 'daily_cap_exceeded' ? error.details.remaining_24h_usdc : null, '1')
    assert.deepEqual([error.outcome, error.attempts, error.requestId], ['not_paid', 1, 'req-1'])
    assert.equal(api.received.length, 1)
  })

  test('that a limit rejects after a lost response has an unknown outcome', async () => {
    api.script(drop({ afterWork: false }), fail(403, CAP_EXCEEDED))
    const error = await failureOf(api.bursar.payments.create(PARAMS))
    assert.ok(error instanceof PaymentRefusedError)
    assert.equal(error.outcome, 'unknown')
  })

  test('waits for as long as Retry-After says', async () => {
    api.script(fail(429, RATE_LIMITED, { headers: { 'retry-after': '7' } }))
    await api.bursar.payments.create(PARAMS)
    assert.deepEqual(api.waits, [7_062.5])
  })

  test('is not retried if Retry-After is longer than the time that is left', async () => {
    api.script(fail(429, RATE_LIMITED, { headers: { 'retry-after': '7' } }))
    const error = await failureOf(api.bursar.payments.create(PARAMS, { totalTimeoutMs: 5_000 }))
    assert.ok(error instanceof RateLimitError)
    assert.deepEqual([error.retryAfterSeconds, error.outcome, error.attempts], [7, 'not_paid', 1])
    assert.deepEqual(api.waits, [])
  })

  test('waits longer before each attempt, with a part that is random', async () => {
    api.script(...Array.from({ length: ATTEMPTS_MAX }, () => fail(503, UNAVAILABLE)))
    const error = await failureOf(api.bursar.payments.create(PARAMS))
    assert.ok(error instanceof InternalServerError)
    assert.deepEqual(
      api.waits,
      [500, 1_000, 2_000, 4_000, 8_000].map((ms) => ms * 0.875),
    )
  })

  test('ends with a TimeoutError if nothing responds', async () => {
    api.script(hang())
    const error = await failureOf(api.bursar.payments.create(PARAMS, { retriesMax: 0 }))
    assert.ok(error instanceof TimeoutError)
    assert.equal(error.outcome, 'unknown')
  })

  test('that is aborted before it is sent was not made', async () => {
    const error = await failureOf(api.bursar.payments.create(PARAMS, { signal: AbortSignal.abort('stop') }))
    assert.ok(error instanceof AbortedError)
    assert.deepEqual([error.outcome, error.attempts, error.cause], ['not_paid', 0, 'stop'])
    assert.equal(api.received.length, 0)
  })

  test('that is aborted while it is under way has an unknown outcome', async () => {
    const controller = new AbortController()
    api.script(({ work }) => {
      work()
      controller.abort()
    })
    const error = await failureOf(api.bursar.payments.create(PARAMS, { signal: controller.signal }))
    assert.ok(error instanceof AbortedError)
    assert.deepEqual([error.outcome, error.attempts], ['unknown', 1])
  })

  test('with the key of another payment throws, and names what differs', async () => {
    const first = await api.bursar.payments.create({ ...PARAMS, idempotency_key: 'invoice-1' })
    const other = { ...PARAMS, amount_usdc: '2', idempotency_key: 'invoice-1' }
    const error = await failureOf(api.bursar.payments.create(other))
    assert.ok(error instanceof IdempotencyMismatchError)
    assert.deepEqual([error.fields, error.payment, error.outcome], [['amount_usdc'], first, 'not_paid'])
  })

  test('says whether it was a replay', async () => {
    api.script(drop({ afterWork: true }))
    const { isReplay, status, requestId } = await api.bursar.payments.create(PARAMS).withResponse()
    assert.deepEqual([isReplay, status, requestId], [true, 201, 'req-1'])
  })

  test('does not follow a redirect with its credential', async () => {
    api.script(({ response }) => response.writeHead(307, { location: `${api.baseUrl}/elsewhere` }).end())
    const error = await failureOf(api.bursar.payments.create(PARAMS))
    assert.ok(error instanceof ConnectionError)
    assert.match(error.message, /check baseUrl/)
    assert.equal(api.received.length, 1)
  })

  test('asks for another token once if one is rejected', async () => {
    const asked: boolean[] = []
    const bursar = api.openWithToken(({ isRejected }) => {
      asked.push(isRejected)
      return `token-${asked.length}`
    })
    const rejected = fail(401, { type: 'unauthenticated' })
    api.script(rejected)
    await bursar.payments.create(PARAMS)
    assert.deepEqual(asked, [false, true])
    assert.equal(api.received[1]?.headers.authorization, 'Bearer token-2')
    api.script(rejected, rejected)
    const error = await failureOf(bursar.payments.create(PARAMS))
    assert.ok(error instanceof AuthenticationError)
    assert.deepEqual([error.outcome, error.attempts], ['not_paid', 2])
  })

  test('was not made if no token can be had', async () => {
    const bursar = api.openWithToken(() => Promise.reject(new Error('The keychain is locked.')))
    const error = await failureOf(bursar.payments.create(PARAMS))
    assert.ok(error instanceof ConnectionError)
    assert.deepEqual(
      [error.outcome, error.attempts, String(error.cause)],
      ['not_paid', 0, 'Error: The keychain is locked.'],
    )
  })

  test('does not wait for a token forever, and not after an abort', async () => {
    const bursar = api.openWithToken(() => new Promise(() => undefined))
    const controller = new AbortController()
    const aborted = failureOf(bursar.payments.create(PARAMS, { signal: controller.signal }))
    controller.abort()
    assert.ok((await aborted) instanceof AbortedError)
    const late = failureOf(bursar.payments.create(PARAMS, { retriesMax: 0 }))
    api.endTimers()
    const error = await late
    assert.ok(error instanceof ConnectionError)
    assert.deepEqual([error.outcome, error.attempts], ['not_paid', 0])
  })

  test('needs a credential that can be sent', async () => {
    for (const apiKey of ['', 'svc_test_1\n', 'svc_test_…']) {
      assert.throws(() => new Bursar({ baseUrl: api.baseUrl, apiKey }), TypeError)
    }
    const error = await failureOf(api.openWithToken(() => 'a token').payments.create(PARAMS))
    assert.deepEqual([error.outcome, error.attempts], ['not_paid', 0])
  })

  test('is waited for until it is settled, with requests that wait', async () => {
    const pending = makePayment({ id: 'pay_1', to: PAYEE })
    const settled = { ...pending, status: 'confirmed' }
    const answers = [pending, pending, settled]
    api.handle('GET /v1/payments/pay_1', () => ({ status: 200, body: { payment: answers.shift() } }))
    assert.equal((await api.bursar.payments.wait('pay_1')).status, 'confirmed')
    assert.deepEqual(
      api.received.map(({ query }) => query.get('wait')),
      ['45', '45', '45'],
    )
    assert.deepEqual(api.waits, [2_000, 2_000])
  })

  test('is not waited for longer than the caller wants', async () => {
    api.handle('GET /v1/payments/pay_1', () => ({ status: 200, body: { payment: makePayment({ id: 'pay_1' }) } }))
    const error = await failureOf(api.bursar.payments.wait('pay_1', { timeoutMs: 5_000 }))
    assert.ok(error instanceof TimeoutError)
    assert.deepEqual(api.waits, [2_000, 2_000, 1_000])
  })
})

async function failureOf(call: Promise<unknown>): Promise<BursarError> {
  const error: unknown = await call.then(
    () => assert.fail('the call succeeded'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof BursarError, String(error))
  return error
}
