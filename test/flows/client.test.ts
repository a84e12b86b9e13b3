import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openX402Client } from '../../sandbox/test/support/x402-client.ts'
import { Bursar, PaymentRefusedError, PurchaseUnansweredError, type PaidResponse } from '../../sdk/src/main.ts'
import { createPayer, makeAddress, type PayerFixture } from '../support/sandbox/payer-fixture.ts'
import { openSandboxFixture, type OwnSandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { createResource, readCounters, readTakings, type WireBehaviour } from '../support/sandbox/seller.ts'
import { waitFor } from '../support/wait-for.ts'
import { startTcpProxy, type TcpProxy } from '../support/wires/tcp-proxy.ts'

const PRICE = 10_000n
const PRICE_USDC = '0.01'
/** Enough attempts and time for the start of a server on a busy machine. */
const PATIENT = { retriesMax: 60, totalTimeoutMs: 240_000 }

describe('the TypeScript client and the real service', () => {
  let fixture: OwnSandboxFixture
  let payer: PayerFixture
  /** A client whose requests go through the proxy. */
  let bursar: Bursar
  let proxy: TcpProxy
  /** If set, the proxy drops the next response, cuts its connections, and calls this function once. */
  let loseAnswer: (() => void) | null = null

  before(async () => {
    // A test kills the server.
    fixture = await openSandboxFixture()
    payer = await createPayer(fixture, { grant: { x402: true } })
    proxy = await startTcpProxy(fixture.baseUrl, () => ({
      toClient: (chunk, pass) => {
        if (loseAnswer === null) return pass(chunk)
        const lose = loseAnswer
        loseAnswer = null
        proxy.cut()
        proxy.restore()
        lose()
      },
    }))
    bursar = new Bursar({ baseUrl: proxy.url, apiKey: payer.key })
  })
  after(async () => {
    await proxy.close()
    await fixture.close()
  })

  const termsOf = (to: string) => ({ agent_id: payer.agentId, wallet: payer.wallet, to, amount_usdc: '1.5' })

  test('pays, waits for the chain, and finds the payment everywhere', async () => {
    const terms = termsOf(makeAddress())
    const preview = await bursar.payments.preview(terms)
    assert.equal(preview.allowed, true)
    const { id } = await bursar.payments.create(terms)
    const payment = await bursar.payments.wait(id)
    assert.equal(payment.status, 'confirmed')
    assert.deepEqual(await bursar.payments.get(id), payment)
    assert.equal(await bursar.payments.getPurchase(id), null)

    const entries = []
    for await (const entry of bursar.ledger.list({ type: 'payment', limit: 1 })) entries.push(entry.id)
    assert.deepEqual(entries, [id])
    const types = []
    for await (const event of bursar.events.list({ type: 'payment.created,payment.confirmed', limit: 1 })) {
      if (event.type === 'payment.created' || event.type === 'payment.confirmed') types.push(event.type)
    }
    assert.deepEqual(types.toSorted(), ['payment.confirmed', 'payment.created'])

    assert.equal((await bursar.me()).mode, 'test')
    assert.equal((await bursar.agents.get(payer.agentId)).wallets[0]?.spent_24h_usdc, '1.5')
    assert.equal((await bursar.wallets.get(payer.wallet)).grants[0]?.remaining_24h_usdc, '98.5')
    for await (const { address } of bursar.wallets.list()) assert.equal(address, payer.wallet)
  })

  test('pays once although the answer is lost', async () => {
    const to = makeAddress()
    loseAnswer = () => undefined
    const { data, attempts, isReplay } = await bursar.payments.create(termsOf(to)).withResponse()
    assert.ok(attempts > 1 && isReplay)
    assert.deepEqual(await idsOfPaymentsTo(to), [data.id])
  })

  test('pays once although the server is killed before its answer arrives', async () => {
    const to = makeAddress()
    const restarts: Promise<void>[] = []
    loseAnswer = () => {
      restarts.push(restart())
    }
    const { data, isReplay } = await bursar.payments.create(termsOf(to), PATIENT).withResponse()
    assert.equal(restarts.length, 1)
    await restarts[0]
    assert.equal(isReplay, true)
    assert.deepEqual(await idsOfPaymentsTo(to), [data.id])
  })

  test('is told what would be possible when a limit rejects the payment', async () => {
    const call = bursar.payments.create({ ...termsOf(makeAddress()), amount_usdc: '11' })
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof PaymentRefusedError)
      assert.equal(error.code === 'amount_too_large' ? error.details.max_per_tx_usdc : error.code, '10')
      return error.outcome === 'not_paid' && error.attempts === 1
    })
  })

  test('fetches what is sold, and asks for its price', async () => {
    const sold = await createResource(fixture, { price_usdc: PRICE_USDC })
    const response = await bursar.fetch(
      sold.url,
      { headers: { accept: 'text/plain' } },
      { maxAmountUsdc: PRICE_USDC, agentId: payer.agentId },
    )
    assert.deepEqual([response.ok, response.purchase.delivery], [true, 'delivered'])
    assert.notEqual(await response.text(), '')
    const { price_usdc: price } = await bursar.x402.check({ url: sold.url })
    assert.equal(price, PRICE_USDC)
    await assert.rejects(bursar.fetch(sold.url, undefined, { maxAmountUsdc: '0.001', agentId: payer.agentId }), {
      name: 'PaymentRefusedError',
      code: 'price_too_high',
    })
  })

  test('@x402/fetch pays twice at a seller that loses its answer; bursar.fetch pays once', async () => {
    const lossy: WireBehaviour = { price_usdc: PRICE_USDC, faults: ['answer_lost'], fault_count: 1 }
    const [theirs, ours] = [await createResource(fixture, lossy), await createResource(fixture, lossy)]

    const buyer = privateKeyToAccount(generatePrivateKey())
    await fixture.control('/faucet', { mode: 'test', address: buyer.address, amount_usdc: '1' })
    const theirFetch = openX402Client(buyer, fixture.sandbox.facts.chains.test.id)
    await assert.rejects(theirFetch(theirs.url))
    assert.equal((await theirFetch(theirs.url)).status, 200)

    const response = await fetchUntilAnswered(ours.url)
    const id = String(response.purchase.payment?.id)
    assert.equal((await bursar.payments.wait(id)).status, 'confirmed')
    // The seller rejects the retry, because it has already accepted this payment header. So the response does not show
    // whether the seller was paid.
    const purchase = await bursar.payments.getPurchase(id)
    assert.equal(purchase?.response_status, response.status)

    await waitFor('the seller was paid twice', async () => (await readTakings(fixture, theirs)) === 2n * PRICE)
    await waitFor('the seller was paid once', async () => (await readTakings(fixture, ours)) === PRICE)
    assert.equal((await readCounters(fixture, ours)).authorizations, 1)
  })

  /** If the answer of the seller is not known, asks again with the same purchase id, as the error says. */
  async function fetchUntilAnswered(url: string): Promise<PaidResponse> {
    const options = { maxAmountUsdc: PRICE_USDC, purchaseId: 'report-1', agentId: payer.agentId }
    return await waitFor('the seller has responded', async () => {
      return await bursar.fetch(url, undefined, options).catch((error: unknown) => {
        if (error instanceof PurchaseUnansweredError) return null
        throw error
      })
    })
  }

  async function restart(): Promise<void> {
    await fixture.sandbox.killServer('SIGKILL')
    await fixture.sandbox.startServer()
  }

  async function idsOfPaymentsTo(to: string): Promise<string[]> {
    const rows = await fixture.query('select id from payments where lower(to_address) = lower($1)', [to])
    return rows.map(({ id }) => String(id))
  }
})
