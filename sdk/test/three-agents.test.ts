import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { Bursar } from 'bursar'
import { payInvoice as payCarefully } from '../examples/careful-fetch.ts'
import { payInvoice as payCarelessly } from '../examples/careless-fetch.ts'
import type { Invoice, Service } from '../examples/invoice.ts'
import { payInvoice as payWithClient } from '../examples/with-client.ts'
import {
  CALL_FAILED,
  CAP_EXCEEDED,
  drop,
  fail,
  hang,
  PAYEE,
  RATE_LIMITED,
  startFakeApi,
  WALLET,
  type Behaviour,
  type FakeApi,
} from './fake-api.ts'

const INVOICE: Invoice = { id: '2041', agentId: 'shopper', wallet: WALLET, payTo: PAYEE, amountUsdc: '1.25' }
/** The time limits of an attempt. The short one is used for the fault in which the service does not respond. */
const TIMEOUT_MS = 20_000
const SHORT_TIMEOUT_MS = 2_000

interface Fault {
  readonly title: string
  readonly behaviours: readonly Behaviour[]
  readonly timeoutMs?: number
  /** How often the careless agent pays. */
  readonly carelessPayments: number
  readonly isRefused?: boolean
}

const FAULTS: readonly Fault[] = [
  { title: 'no fault', behaviours: [], carelessPayments: 1 },
  { title: 'a lost response', behaviours: [drop({ afterWork: true })], carelessPayments: 2 },
  { title: 'a 429', behaviours: [fail(429, RATE_LIMITED, { headers: { 'retry-after': '1' } })], carelessPayments: 1 },
  { title: 'a 500', behaviours: [fail(500, CALL_FAILED, { afterWork: true })], carelessPayments: 2 },
  { title: 'a timeout', behaviours: [hang({ afterWork: true })], timeoutMs: SHORT_TIMEOUT_MS, carelessPayments: 2 },
  { title: 'a cap that is reached', behaviours: [fail(403, CAP_EXCEEDED)], carelessPayments: 0, isRefused: true },
  {
    title: 'a server that is restarted',
    behaviours: [drop({ afterWork: true }), drop({ afterWork: false }), drop({ afterWork: false })],
    carelessPayments: 2,
  },
]

describe('the same agent with fetch and with the client', () => {
  let api: FakeApi
  before(async () => {
    api = await startFakeApi()
  })
  afterEach(() => api.reset())
  after(() => api.close())

  for (const { title, behaviours, timeoutMs = TIMEOUT_MS, carelessPayments, isRefused = false } of FAULTS) {
    const service = (): Service => ({ baseUrl: api.baseUrl, apiKey: 'svc_test_1', timeoutMs })
    const result = isRefused ? 'refused: daily_cap_exceeded' : 'paid pay_1'

    test(`with the client pays once, in spite of ${title}`, async () => {
      api.script(...behaviours)
      const bursar = new Bursar({ ...service(), runtime: api.runtime })
      assert.equal(await payWithClient(bursar, INVOICE), result)
      assert.equal(api.payments.size, isRefused ? 0 : 1)
    })

    test(`with a careful fetch pays once, in spite of ${title}`, async () => {
      api.script(...behaviours)
      assert.equal(await payCarefully(service(), INVOICE), result)
      assert.equal(api.payments.size, isRefused ? 0 : 1)
    })

    test(`with a careless fetch pays ${carelessPayments} times with ${title}`, async () => {
      api.script(...behaviours)
      await payCarelessly(service(), INVOICE)
      // On a very busy machine, a further attempt can exceed the short time limit. Then the agent pays once more.
      if (timeoutMs === SHORT_TIMEOUT_MS) assert.ok(api.payments.size >= carelessPayments)
      else assert.equal(api.payments.size, carelessPayments)
    })
  }
})
