import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openService, type Service } from '../../server/src/service.ts'
import type { Mode } from '../../server/src/values/mode.ts'
import { call, type JsonAnswer } from '../support/http-client.ts'
import { startRoundTripCounter, type RoundTripCounter } from '../support/database/round-trip-counter.ts'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { openTestContext, type TestContext } from '../support/context/test-context.ts'

/** Round trips to the database dominate the cost of a request. The architecture promises each of these bounds. */
const READ_TRIPS_MAX = 2
const PAYMENT_TRIPS_MAX = 4
/** Opens the connections and prepares the statements. */
const WARM_UPS = 4
const REQUESTS = 10

describe('round trips to the database', () => {
  let given: TestContext
  let wire: RoundTripCounter
  let service: Service | undefined
  let base: string
  before(async () => {
    given = await openTestContext()
    wire = await startRoundTripCounter(given.config.database.url)
    const database = { ...given.config.database, url: wire.url }
    service = await openService({ ...given.config, database, role: 'api' })
    base = `http://127.0.0.1:${service.ports[0]}`
  })
  after(async () => {
    await service?.stop()
    await wire.close()
    await given.close()
  })

  test('GET /v1/agents/{id} takes two at the most', async () => {
    const { key, agentId } = await seed(given.context)
    await checkTrips(READ_TRIPS_MAX, () => call(base, 'GET', `/v1/agents/${agentId}`, { key }))
  })

  test('GET /v1/me takes two at the most', async () => {
    const { key } = await seed(given.context)
    await checkTrips(READ_TRIPS_MAX, () => call(base, 'GET', '/v1/me', { key }))
  })

  test('GET /v1/payments/{id} of a confirmed payment takes two at the most', async () => {
    const seeded = await seed(given.context)
    const { payment } = (await pay(seeded)).body
    const { usdc } = given.context.chains.test
    const transfer = { contract: usdc, from: seeded.wallet, to: RECIPIENT, amountMicro: 1n }
    given.chains.test.receipts.set(String(payment.tx_hash), { ...transfer, blockNumber: given.chains.test.head })
    const get = () => call(base, 'GET', `/v1/payments/${payment.id}`, { key: seeded.key })
    assert.equal((await get()).body.payment.status, 'confirmed')
    await checkTrips(READ_TRIPS_MAX, get)
  })

  for (const mode of ['test', 'live'] as const satisfies readonly Mode[]) {
    test(`POST /v1/payments takes four at the most, in ${mode} mode`, async () => {
      const seeded = await seed(given.context, { mode })
      await checkTrips(PAYMENT_TRIPS_MAX, () => pay(seeded))
    })
  }

  function pay({ key, agentId, wallet }: Seed): Promise<JsonAnswer> {
    const body = { agent_id: agentId, wallet, to: RECIPIENT, amount_usdc: '0.000001' }
    return call(base, 'POST', '/v1/payments', { key, body })
  }

  /** Makes one request at a time. Writes that the request leaves for later count too. */
  async function checkTrips(tripsMax: number, request: () => Promise<JsonAnswer>): Promise<void> {
    for (let index = 0; index < WARM_UPS; index += 1) await request()
    const before = wire.count()
    for (let index = 0; index < REQUESTS; index += 1) {
      const { status, text } = await request()
      assert.ok(status === 200 || status === 201, text)
    }
    const trips = (wire.count() - before) / REQUESTS
    assert.ok(trips > 0, 'the wire was not used')
    assert.ok(trips <= tripsMax, `${trips} round trips a request, not ${tripsMax}`)
  }
})
