import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openService, type Service } from '../../server/src/service.ts'
import type { Mode } from '../../server/src/values/mode.ts'
import { call, send, type Call, type JsonAnswer, type WirePayment } from '../support/http-client.ts'
import { startRoundTripCounter, type RoundTripCounter } from '../support/database/round-trip-counter.ts'
import { seedTokens } from '../support/context/connection-rows.ts'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { openTestContext, type TestContext } from '../support/context/test-context.ts'
import { callTool } from '../support/service/mcp-client.ts'

/**
 * One request may make at most this many round trips to the database. Round trips take most of a request's time.
 * ARCHITECTURE.md promises these limits.
 */
const READ_TRIPS_MAX = 2
const PAYMENT_TRIPS_MAX = 4
/**
 * One call of a tool, with a token, may make at most this many round trips. Each line also names the request of `/v1`
 * that does the same.
 */
const TOOL_TRIPS_MAX = {
  get_budget: 2, // GET /v1/agents/{id}
  list_wallets: 2, // GET /v1/wallets
  preview_payment: 3, // POST /v1/payments/preview
  send_payment: 5, // POST /v1/payments
  get_payment: 2, // GET /v1/payments/{id}
  list_ledger: 2, // GET /v1/ledger
} as const
/** The number of requests before the measurement. They open the connections and prepare the statements. */
const WARM_UPS = 4
const REQUESTS = 10

describe('round trips to the database', () => {
  let given: TestContext
  let wire: RoundTripCounter
  let service: Service | undefined
  let base: string
  const endpoint = { call: (request: Call) => send(base, request) }
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

  test('GET /v1/agents/{id} makes at most two', async () => {
    const { key, agentId } = await seed(given.context)
    await checkTrips(READ_TRIPS_MAX, () => get(`/v1/agents/${agentId}`, key))
  })

  test('GET /v1/me makes at most two', async () => {
    const { key } = await seed(given.context)
    await checkTrips(READ_TRIPS_MAX, () => get('/v1/me', key))
  })

  test('GET /v1/payments/{id} of a confirmed payment makes at most two', async () => {
    const seeded = await seed(given.context)
    const { id } = await payAndConfirm(seeded)
    await checkTrips(READ_TRIPS_MAX, () => get(`/v1/payments/${id}`, seeded.key))
  })

  for (const mode of ['test', 'live'] as const satisfies readonly Mode[]) {
    test(`POST /v1/payments makes at most four, in ${mode} mode`, async () => {
      const seeded = await seed(given.context, { mode })
      await checkTrips(PAYMENT_TRIPS_MAX, () => pay(seeded))
    })
  }

  for (const [name, tripsMax] of Object.entries(TOOL_TRIPS_MAX)) {
    test(`the tool ${name} makes at most ${tripsMax}`, async () => {
      const seeded = await seed(given.context)
      const { workspace, mode, agentId, wallet } = seeded
      const { accessToken } = (await seedTokens(given.context, { workspace, mode, agentId })).tokens
      const { id } = await payAndConfirm(seeded)
      let count = 0
      await checkTrips(tripsMax, async () => {
        count += 1
        const purchase = { purchase_id: `p${count}`, to: RECIPIENT, amount_usdc: `0.0${100 + count}`, wallet }
        const args: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
          get_payment: { payment_id: id },
          preview_payment: purchase,
          send_payment: purchase,
        }
        const { isError, ...content } = await callTool(endpoint, accessToken, name, args[name])
        assert.equal(isError, false, JSON.stringify(content))
      })
    })
  }

  /** Makes a payment that is confirmed, and returns it. */
  async function payAndConfirm(seeded: Seed): Promise<WirePayment> {
    const { payment } = (await pay(seeded)).body
    const { usdc } = given.context.chains.test
    const transfer = { contract: usdc, from: seeded.wallet, to: RECIPIENT, amountMicro: 1n }
    given.chains.test.receipts.set(String(payment.tx_hash), { ...transfer, blockNumber: given.chains.test.head })
    const answer = await get(`/v1/payments/${payment.id}`, seeded.key)
    assert.equal(answer.body.payment.status, 'confirmed')
    return answer.body.payment
  }

  async function get(path: string, key: string): Promise<JsonAnswer> {
    const answer = await call(base, 'GET', path, { key })
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

  async function pay({ key, agentId, wallet }: Seed): Promise<JsonAnswer> {
    const body = { agent_id: agentId, wallet, to: RECIPIENT, amount_usdc: '0.000001' }
    const answer = await call(base, 'POST', '/v1/payments', { key, body })
    assert.equal(answer.status, 201, answer.text)
    return answer
  }

  /**
   * Makes requests one at a time, and checks the average number of round trips. Writes that a request defers are
   * counted too.
   */
  async function checkTrips(tripsMax: number, request: () => Promise<unknown>): Promise<void> {
    for (let index = 0; index < WARM_UPS; index += 1) await request()
    const before = wire.count()
    for (let index = 0; index < REQUESTS; index += 1) await request()
    const trips = (wire.count() - before) / REQUESTS
    assert.ok(trips > 0, 'the wire was not used')
    assert.ok(trips <= tripsMax, `${trips} round trips a request, not ${tripsMax}`)
  }
})
