import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { BursarError, PaymentRefusedError, type Payment } from '../src/main.ts'
import {
  CALL_FAILED,
  CAP_EXCEEDED,
  cut,
  drop,
  fail,
  hang,
  PARAMS,
  RATE_LIMITED,
  raw,
  startFakeApi,
  UNAVAILABLE,
  type Behaviour,
  type FakeApi,
} from './fake-api.ts'

const RUNS = 300
/** One run has at most this many faults. A call makes at most 6 attempts, so each of its attempts can meet a fault. */
const FAULTS_MAX = 7

type FaultName = keyof typeof FAULTS | 'arrives_late'

const FAULTS = {
  none: ({ response, work }) => {
    const { status, body, headers } = work()
    response.writeHead(status, headers).end(JSON.stringify(body))
  },
  lost_request: drop({ afterWork: false }),
  lost_response: drop({ afterWork: true }),
  cut_response: cut,
  timeout_before: hang(),
  timeout_after: hang({ afterWork: true }),
  internal_before: fail(500, { type: 'internal' }),
  internal_after: fail(500, { type: 'internal' }, { afterWork: true }),
  call_failed_before: fail(500, CALL_FAILED),
  call_failed_after: fail(500, CALL_FAILED, { afterWork: true }),
  overload: fail(503, UNAVAILABLE),
  proxy_error_after: raw(503, 'Service unavailable'),
  rate_limited: fail(429, RATE_LIMITED, { headers: { 'retry-after': '2' } }),
  rate_limited_for_long: fail(429, RATE_LIMITED, { headers: { 'retry-after': '600' } }),
  wrong_body: raw(200, '{"payment":{}}'),
  foreign_body: raw(201, '{"payment":{"id":"pay_x","idempotency_key":"of-another-caller"}}'),
  no_json: raw(200, 'OK'),
  refused: fail(403, CAP_EXCEEDED),
  unauthenticated: fail(401, { type: 'unauthenticated' }),
} satisfies Readonly<Record<string, Behaviour>>

const faultName = fc.constantFrom<FaultName>(...(Object.keys(FAULTS) as (keyof typeof FAULTS)[]), 'arrives_late')

describe('a payment at a service that misbehaves at random', () => {
  let api: FakeApi
  before(async () => {
    api = await startFakeApi()
  })
  after(() => api.close())

  test('is made at most once, and what the client says about it is true or "unknown"', async () => {
    const run = fc.asyncProperty(fc.array(faultName, { maxLength: FAULTS_MAX }), checkPayment)
    await fc.assert(run, { numRuns: RUNS })
  })

  async function checkPayment(names: readonly FaultName[]): Promise<void> {
    api.reset()
    /** Requests that the network delivers after the client has given up. */
    const late: (() => unknown)[] = []
    const arriveLate: Behaviour = ({ response, work }) => {
      late.push(work)
      response.destroy()
    }
    api.script(...names.map((name) => (name === 'arrives_late' ? arriveLate : FAULTS[name])))
    const result = await api.bursar.payments.create(PARAMS).catch((error: unknown) => error)
    for (const arrive of late) arrive()
    const keys = new Set(api.received.map(({ body }) => body['idempotency_key']))
    assert.equal(keys.size, 1, 'all attempts have one key')
    assert.ok(api.payments.size <= 1, 'at most one payment')
    const [payment] = api.payments.values()
    if (result instanceof BursarError) await checkFailure(result, payment)
    else assert.deepEqual(result, payment)
  }

  async function checkFailure(error: BursarError, payment: Payment | undefined): Promise<void> {
    assert.equal(error.attempts, api.received.length)
    if (error.outcome === 'not_paid') assert.equal(payment, undefined, 'it was paid')
    // A call ends as soon as a limit rejects the payment, so the rejected request is the last one.
    if (error instanceof PaymentRefusedError)
      assert.equal(api.received.at(-1)?.body['idempotency_key'], error.idempotencyKey)
    api.script()
    const again = await api.bursar.payments.create({ ...PARAMS, idempotency_key: String(error.idempotencyKey) })
    assert.deepEqual([...api.payments.values()], [again], 'the same key finds the payment or makes it')
    if (payment !== undefined) assert.deepEqual(again, payment)
  }
})
