import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { RECIPIENT, type Seed } from '../support/context/seed.ts'
import { offerOf, seedBuyer } from '../support/context/seed-buyer.ts'
import { readBody, readError, type Answer } from '../support/http-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'
import { startFakeSeller, toBase64, type FakeSeller } from '../support/wires/fake-seller.ts'

type Wire = Readonly<Record<string, unknown>>
interface Bought {
  readonly payment: Wire
  readonly purchase: Wire
  readonly response: Wire | null
  readonly delivery: string | null
}

describe('what a seller asks for', () => {
  let given: TestService
  let seller: FakeSeller
  before(async () => {
    given = await openTestService((config) => ({ ...config, webhooksToLoopback: true }))
  })
  beforeEach(async () => {
    given.enclave.authorizations.length = 0
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context)]
  })
  afterEach(() => seller.close())
  after(() => given.close())

  test('of all protocols in one answer, the cheapest way to pay is taken', async () => {
    const buyer = await seedBuyer(given)
    const { amount: _amount, ...offer } = offerOf(given.context)
    const first = { ...offer, network: 'base-sepolia', maxAmountRequired: '5000', description: 'The old way' }
    const required = { x402Version: 2, accepts: [offerOf(given.context, { amount: '20000' })] }
    seller.ask = (response) => {
      response.writeHead(402, { 'payment-required': toBase64(required), 'content-type': 'application/json' })
      response.end(JSON.stringify({ x402Version: 1, accepts: [first] }))
    }
    const check = { path: '/v1/x402/check', key: buyer.key, body: { url: seller.url } }
    const price = readBody<Wire & { options: Wire[]; resource: Wire }>(await given.call(check), 200)
    assert.deepEqual([price['price_usdc'], price['protocol']], ['0.005', 'x402_v1'])
    assert.equal(price.resource['description'], 'The old way')
    assert.deepEqual(
      price.options.map((option) => [option['protocol'], option['amount_usdc']]),
      [
        ['x402_v1', '0.005'],
        ['x402_v2', '0.02'],
      ],
    )
    const { payment, purchase } = readBody<Bought>(await pay(buyer, { max_amount_usdc: '0.01' }), 200)
    assert.deepEqual(
      [payment['amount_usdc'], purchase['protocol'], purchase['description']],
      ['0.005', 'x402_v1', 'The old way'],
    )
    assert.deepEqual([seller.paid[0]?.value, typeof seller.paid[0]?.headers['x-payment']], ['5000', 'string'])
    const { details } = expectCode(
      await pay(buyer, { max_amount_usdc: '0.004', idempotency_key: 'two' }),
      400,
      'price_too_high',
    )
    assert.equal((details as Wire)['price_usdc'], '0.005')
  })

  test('a payment goes into the header that a challenge names, beside the credential of the agent', async () => {
    const buyer = await seedBuyer(given)
    seller.ask = (response) => {
      response.writeHead(402, { 'www-authenticate': challenge(', header="Payment-Authorization"') }).end()
    }
    const headers = { authorization: 'Bearer mine' }
    const { delivery, purchase } = readBody<Bought>(await pay(buyer, { headers }), 200)
    assert.deepEqual([delivery, purchase['protocol']], ['delivered', 'mpp'])
    const [paid] = seller.paid
    assert.equal(paid?.headers.authorization, 'Bearer mine')
    assert.match(String(paid.headers['payment-authorization']), /^Payment \S+$/)
    const terms = { payment_required: challenge(', header="payment-authorization"'), resource_url: seller.url }
    const body = { ...terms, ...payer(buyer), idempotency_key: 'two' }
    const signed = readBody<Wire>(await given.call({ path: '/v1/x402/sign', key: buyer.key, body }), 201)
    assert.equal(signed['header_name'], 'Payment-Authorization')
  })

  test('the credential of the agent does not follow a redirect to another seller', async () => {
    const buyer = await seedBuyer(given)
    const other = await startFakeSeller()
    other.ask = (response) => {
      response.writeHead(402, { 'www-authenticate': challenge(', header="Payment-Authorization"') }).end()
    }
    seller.ask = (response) => response.writeHead(307, { location: other.url }).end()
    readBody<Bought>(await pay(buyer, { headers: { authorization: 'Bearer mine' } }), 200)
    assert.deepEqual(
      other.requests.map(({ headers }) => headers.authorization),
      [undefined, undefined],
    )
    assert.equal(other.paid.length, 1)
    await other.close()
  })

  test('a challenge that says something that we do not understand is not paid', async () => {
    const buyer = await seedBuyer(given)
    for (const [parameter, reason] of [
      [', header="Host"', 'header_unsupported'],
      [', surcharge="5"', 'parameter_unknown'],
      [', digest="sha-256=:AAAA:"', 'digest_mismatch'],
    ] as const) {
      seller.ask = (response) => response.writeHead(402, { 'www-authenticate': challenge(parameter) }).end()
      const { details } = expectCode(await pay(buyer), 400, 'payment_option_unsupported')
      assert.equal((details as { skipped: Wire[] }).skipped[0]?.['reason'], reason)
    }
    assert.equal(given.enclave.authorizations.length, 0)
  })

  test('the numbers of an offer go back to the seller as it wrote them', async () => {
    const buyer = await seedBuyer(given)
    const { maxTimeoutSeconds: _timeout, extra, ...rest } = offerOf(given.context)
    const numbers = `"maxTimeoutSeconds":60.0,"extra":${JSON.stringify({ ...(extra as object), order: 1 })}`
    const accept = `${JSON.stringify(rest).slice(0, -1)},${numbers.replace('"order":1', '"order":12345678901234567890')}}`
    const required = `{"x402Version":2,"resource":{"size":1.0},"accepts":[${accept}]}`
    seller.ask = (response) => {
      response.writeHead(402, { 'payment-required': Buffer.from(required).toString('base64') }).end()
    }
    assert.equal(readBody<Bought>(await pay(buyer), 200).delivery, 'delivered')
    const terms = `"resource_url":"${seller.url}",${JSON.stringify({ ...payer(buyer), idempotency_key: 'two' }).slice(1)}`
    const body = `{"payment_required":${required},${terms}`
    const call = { path: '/v1/x402/sign', key: buyer.key, body }
    const signed = readBody<Wire>(await given.call(call), 201)
    for (const header of [seller.paid[0]?.header, signed['header_value']]) {
      const sent = Buffer.from(String(header), 'base64').toString('utf8')
      assert.ok(sent.includes(`"accepted":${accept}`), sent)
      assert.ok(sent.includes('"resource":{"size":1.0}'), sent)
    }
    const again = await given.call(call)
    assert.deepEqual([again.headers['idempotent-replayed'], again.headers['idempotent-mismatch']], ['true', undefined])
  })

  test('a description is cut between two characters', async () => {
    const buyer = await seedBuyer(given)
    const description = `a${'\u{1f600}'.repeat(250)}`
    seller.ask = (response) => {
      const required = { x402Version: 2, resource: { url: seller.url, description }, accepts: seller.accepts }
      response.writeHead(402, { 'payment-required': toBase64(required) }).end()
    }
    const { purchase } = readBody<Bought>(await pay(buyer), 200)
    assert.equal(purchase['description'], `a${'\u{1f600}'.repeat(199)}`)
  })

  test('a body that is nested very deeply is rejected with 400, wherever it is sent', async () => {
    const buyer = await seedBuyer(given)
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    const terms = JSON.stringify({ resource_url: seller.url, ...payer(buyer) }).slice(1)
    const bodies = {
      '/v1/x402/sign': `{"payment_required":${deep},${terms}`,
      '/v1/x402/pay': deep,
      '/v1/payments': `{"memo":${deep}}`,
      '/mcp': `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_budget","arguments":${deep}}}`,
    }
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await given.call({ path, key: buyer.key, body })
      assert.deepEqual([answer.status, readError(answer).type], [400, 'validation_failed'], path)
      assert.match(answer.text, /nested too deeply/)
    }
  })

  test('a refusal says that some offers were not read', async () => {
    const buyer = await seedBuyer(given)
    seller.accepts = Array.from({ length: 24 }, () => offerOf(given.context, { scheme: 'upto' }))
    const refused = expectCode(await pay(buyer), 400, 'payment_option_unsupported')
    assert.equal((refused.details as Wire)['unread_options'], 4)
  })

  test('if the payment header would be too long for the seller, nothing is signed', async () => {
    const buyer = await seedBuyer(given)
    const extensions = { story: 'x'.repeat(4_000) }
    const resource = { url: seller.url }
    seller.ask = (response) => {
      const required = { x402Version: 2, resource, accepts: seller.accepts, extensions }
      response.writeHead(402, { 'payment-required': toBase64(required) }).end()
    }
    // The request line and the headers of a request have a limit too, not only each header.
    const headers = { 'x-long': 'x'.repeat(8_000) }
    const { details } = expectCode(await pay(buyer, { headers }), 400, 'payment_option_unsupported')
    assert.deepEqual(
      (details as { skipped: Wire[] }).skipped.map(({ reason }) => reason),
      ['header_too_large'],
    )
    assert.equal(given.enclave.authorizations.length, 0)
    assert.equal(readBody<Bought>(await pay(buyer), 200).delivery, 'delivered')
  })

  let challenges = 0

  /** Writes a challenge of MPP, each with an id of its own. */
  function challenge(parameters: string): string {
    const { chainId, usdc } = given.context.chains.test
    const methodDetails = { chainId, credentialTypes: ['authorization'], decimals: 6 }
    const request = { amount: '10000', currency: usdc, recipient: RECIPIENT, methodDetails }
    const encoded = Buffer.from(JSON.stringify(request)).toString('base64url')
    const expires = new Date(given.context.clock.now().getTime() + 60_000).toISOString()
    challenges += 1
    const terms = `id="${challenges}", realm="r", method="evm", intent="charge", request="${encoded}"`
    return `Payment ${terms}, expires="${expires}"${parameters}`
  }

  function payer(buyer: Seed): Wire {
    return { agent_id: buyer.agentId, wallet: buyer.wallet, max_amount_usdc: '1', idempotency_key: 'one' }
  }

  function expectCode(answer: Answer, status: number, code?: string) {
    const error = readError(answer)
    assert.deepEqual([answer.status, error.code], [status, code], answer.text)
    return error
  }

  async function pay(buyer: Seed, changes: Wire = {}): Promise<Answer> {
    const body = { url: `${seller.url}/goods`, ...payer(buyer), ...changes }
    return await given.call({ path: '/v1/x402/pay', key: buyer.key, body })
  }
})
