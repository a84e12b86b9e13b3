import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { openService, type Service } from '../../server/src/service.ts'
import { offerOf, seedBuyer } from '../support/context/seed-buyer.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { readRows } from '../support/database/read-rows.ts'
import { readBody, readError, send, type Answer } from '../support/http-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'
import { startFakeSeller, type FakeSeller } from '../support/wires/fake-seller.ts'
import { waitFor } from '../support/wait-for.ts'

/** One workspace alone gets at most half of the purchases that a process may work on at the same time. */
const SHARE = 128
/** Fewer than the 60 requests that one key may send in a minute. */
const CALLS_OF_KEY = 50

interface Bought {
  readonly payment: { readonly id: string; readonly status: string }
  readonly response: { readonly body: string } | null
  readonly delivery: string
}

describe('purchases that wait for a seller', () => {
  let given: TestService
  let seller: FakeSeller
  let released: PromiseWithResolvers<void>
  beforeEach(async () => {
    given = await openTestService((config) => ({ ...config, webhooksToLoopback: true }))
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context)]
    released = Promise.withResolvers()
  })
  afterEach(async () => {
    released.resolve()
    await seller.close()
    await given.close()
  })

  test('one workspace can fill half of the places; the next call gets 503, and another workspace is served', async () => {
    const [busy, other] = [await seed(given.context), await seedBuyer(given)]
    const keys = await Promise.all(
      Array.from({ length: Math.ceil(SHARE / CALLS_OF_KEY) + 1 }, async () => await given.issueKey(busy)),
    )
    const { ask } = seller
    let asked = 0
    seller.ask = (response, request) => {
      if (request.path !== '/slow') return ask(response, request)
      asked += 1
      void released.promise.then(() => ask(response, request))
    }
    const check = (index: number) => {
      const key = keys[Math.floor(index / CALLS_OF_KEY)] ?? ''
      return given.call({ method: 'POST', path: '/v1/x402/check', key, body: { url: `${seller.url}/slow` } })
    }
    const waiting = Array.from({ length: SHARE }, (_, index) => check(index))
    await waitFor('the seller has every request', () => asked === SHARE)
    const rejected = await check(SHARE)
    assert.equal(rejected.status, 503, rejected.text)
    assert.equal(readError(rejected).type, 'unavailable')
    assert.equal(rejected.headers['retry-after'], '5')
    assert.equal(asked, SHARE)
    assert.equal(readBody<Bought>(await pay(given, other), 200).delivery, 'delivered')
    released.resolve()
    for (const answer of await Promise.all(waiting)) readBody(answer, 200)
    readBody(await check(SHARE), 200)
  })

  test('a stop waits for a slow seller, and returns and keeps the goods', async () => {
    const buyer = await seedBuyer(given)
    const { paying, stopped } = await stopDuringPurchase(buyer)
    released.resolve()
    const bought = readBody<Bought>(await paying, 200)
    assert.deepEqual([bought.delivery, bought.response?.body], ['delivered', 'goods'])
    await stopped
    const [row] = await readRows(
      given.context.db,
      'select delivery, response_sealed is not null as kept from purchases',
    )
    assert.deepEqual(row, { delivery: 'delivered', kept: true })
  })

  test('a stop does not wait forever: the delivery is unknown, and a retry sends the same header to the seller', async () => {
    const buyer = await seedBuyer(given)
    const { paying, stopped } = await stopDuringPurchase(buyer)
    const lost = readBody<Bought>(await paying, 200)
    assert.deepEqual([lost.delivery, lost.response], ['unknown', null])
    await stopped
    seller.deliver = (response) => response.writeHead(200).end('goods')
    await withServiceAgain(async ({ ports }) => {
      const again = readBody<Bought>(await pay({ url: `http://127.0.0.1:${ports[0]}` }, buyer), 200)
      assert.deepEqual(
        [again.delivery, again.response?.body, again.payment.id],
        ['delivered', 'goods', lost.payment.id],
      )
    })
    assert.equal(new Set(seller.paid.map(({ header }) => header)).size, 1)
    assert.equal(given.enclave.authorizations.length, 1)
  })

  /** Begins a purchase, and stops the service once the seller has the payment header. */
  async function stopDuringPurchase(buyer: Seed): Promise<{ paying: Promise<Answer>; stopped: Promise<void> }> {
    const arrived = Promise.withResolvers<void>()
    seller.deliver = (response) => {
      arrived.resolve()
      void released.promise.then(() => response.writeHead(200).end('goods'))
    }
    const paying = pay(given, buyer)
    await Promise.race([arrived.promise, paying.then(({ text }) => assert.fail(text))])
    return { paying, stopped: given.service.stop() }
  }

  async function withServiceAgain(use: (service: Service) => Promise<void>): Promise<void> {
    const service = await openService({ ...given.config, webhooksToLoopback: true })
    try {
      await use(service)
    } finally {
      await service.stop()
    }
  }

  async function pay({ url }: { readonly url: string }, { key, agentId, wallet }: Seed): Promise<Answer> {
    const terms = { agent_id: agentId, wallet, max_amount_usdc: '0.01', idempotency_key: 'one' }
    return await send(url, {
      method: 'POST',
      path: '/v1/x402/pay',
      key,
      body: { url: `${seller.url}/goods`, ...terms },
    })
  }
})
