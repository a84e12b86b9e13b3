import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { seedTokens } from '../support/context/connection-rows.ts'
import { agent, RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { offerOf, seedBuyer } from '../support/context/seed-buyer.ts'
import { readRows } from '../support/database/read-rows.ts'
import { expectError, readBody, readError, type Answer } from '../support/http-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'
import { startFakeSeller, toBase64, type FakeSeller } from '../support/wires/fake-seller.ts'
import { waitFor } from '../support/wait-for.ts'

type Wire = Readonly<Record<string, unknown>>
interface Bought {
  readonly payment: Wire
  readonly purchase: Wire
  readonly response: Wire | null
  readonly delivery: string | null
}

describe('purchases over HTTP', () => {
  let given: TestService
  let seller: FakeSeller
  before(async () => {
    given = await openTestService((config) => ({ ...config, webhooksToLoopback: true }))
  })
  beforeEach(async () => {
    given.enclave.behave = () => 'sign'
    given.enclave.authorizations.length = 0
    given.clock.setOffset(0)
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context)]
  })
  afterEach(() => seller.close())
  after(() => given.close())

  test('a resource is paid for, and the goods are returned with the payment', async () => {
    const buyer = await seedBuyer(given)
    const answer = await pay(buyer, { url: `${seller.url}/goods?secret=1`, memo: 'weather', max_amount_usdc: '0.01' })
    const { payment, purchase, response, delivery } = readBody<Bought>(answer, 200)
    assert.deepEqual(payment, {
      ...{ id: payment['id'], kind: 'x402', agent_id: buyer.agentId, grant_id: buyer.grant.id, status: 'pending' },
      ...{ failure_code: null, tx_hash: null, amount_usdc: '0.01', to: RECIPIENT, from: buyer.wallet, memo: 'weather' },
      ...{
        idempotency_key: 'one',
        request_id: payment['request_id'],
        created_at: payment['created_at'],
        confirmed_at: null,
      },
    })
    assert.equal(delivery, 'delivered')
    assert.equal(purchase['resource_url'], `${seller.url}/goods`)
    assert.equal(purchase['delivery'], 'delivered')
    assert.equal(response?.['status'], 200)
    assert.equal(response['body'], 'goods')
    assert.equal((response['headers'] as Wire)['set-cookie'], undefined)
    const [paid] = seller.paid
    assert.equal(paid?.path, '/goods?secret=1')
    assert.deepEqual([paid.from, paid.to, paid.value], [buyer.wallet, RECIPIENT, '10000'])
    const read = await given.call({ path: `/v1/payments/${String(payment['id'])}`, key: buyer.key })
    assert.deepEqual(readBody(read, 200), { payment, purchase })
  })

  test('the same key returns the stored response, and asks and signs nothing again', async () => {
    const buyer = await seedBuyer(given)
    const first = readBody<Bought>(await pay(buyer), 200)
    const requests = seller.requests.length
    const again = await pay(buyer)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    assert.equal(again.headers['idempotent-mismatch'], undefined)
    assert.deepEqual(readBody(again, 200), first)
    assert.equal(seller.requests.length, requests)
    assert.equal(given.enclave.authorizations.length, 1)
  })

  test('a lost response is asked for again with the same header', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => {
      if (seller.paid.length === 1) response.destroy()
      else response.writeHead(200).end('goods')
    }
    const { delivery, response } = readBody<Bought>(await pay(buyer), 200)
    assert.equal(delivery, 'delivered')
    assert.equal(response?.['body'], 'goods')
    assert.ok(seller.paid.length >= 2)
    assert.equal(new Set(seller.paid.map(({ header }) => header)).size, 1)
    assert.equal(given.enclave.authorizations.length, 1)
  })

  test('if every answer is lost, the delivery is unknown, and a retry sends the same header', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => response.destroy()
    const lost = readBody<Bought>(await pay(buyer), 200)
    assert.equal(lost.delivery, 'unknown')
    assert.equal(lost.response, null)
    seller.deliver = (response) => response.writeHead(200).end('goods')
    const found = readBody<Bought>(await pay(buyer), 200)
    assert.equal(found.delivery, 'delivered')
    assert.equal(found.response?.['body'], 'goods')
    assert.equal(found.payment['id'], lost.payment['id'])
    assert.equal(new Set(seller.paid.map(({ header }) => header)).size, 1)
    assert.equal(given.enclave.authorizations.length, 1)
  })

  test('a 402 to the request that pays is a failed delivery, and the amount stays reserved', async () => {
    const buyer = await seedBuyer(given, { dailyCap: '0.015' })
    seller.deliver = (response) => response.writeHead(402).end('{"error":"settlement_pending"}')
    const { payment, delivery, response } = readBody<Bought>(await pay(buyer), 200)
    assert.deepEqual([payment['status'], delivery, response?.['status']], ['pending', 'failed', 402])
    expectCode(await pay(buyer, { idempotency_key: 'two' }), 403, 'daily_cap_exceeded')
  })

  test('an order that is redirected is not paid for, and the error says where it points', async () => {
    const buyer = await seedBuyer(given)
    const rows = await given.countRows()
    for (const status of [301, 302, 303]) {
      seller.ask = (response) => response.writeHead(status, { location: '/receipt' }).end()
      const error = expectCode(await pay(buyer, { method: 'POST', body: 'three' }), 400, 'resource_redirected')
      assert.deepEqual(error.details, { status, untrusted_location: `${seller.url}/receipt` })
    }
    assert.ok(!seller.requests.some(({ path }) => path === '/receipt'))
    assert.deepEqual(await given.countRows(), rows)
  })

  test('a redirect of the request that pays is not followed', async () => {
    const buyer = await seedBuyer(given)
    seller.deliver = (response) => response.writeHead(307, { location: `${seller.url}/elsewhere` }).end()
    const { delivery, response } = readBody<Bought>(await pay(buyer), 200)
    assert.deepEqual([delivery, response?.['status']], ['failed', 307])
    assert.equal(seller.paid.length, 1)
    assert.ok(!seller.requests.some(({ path }) => path === '/elsewhere'))
  })

  test('a resource that asks for nothing is passed through, and nothing is recorded', async () => {
    const buyer = await seedBuyer(given)
    const rows = await given.countRows()
    seller.ask = (response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('none')
    const answer = readBody<Wire>(await pay(buyer), 200)
    const response = answer['response'] as Wire
    assert.deepEqual(
      [answer['payment'], answer['delivery'], response['status'], response['body']],
      [null, null, 404, 'none'],
    )
    assert.deepEqual(await given.countRows(), rows)
  })

  test('a body that is not text is returned in base64', async () => {
    const buyer = await seedBuyer(given)
    const bytes = Buffer.from([0, 255, 1, 254])
    seller.deliver = (response) => response.writeHead(200).end(bytes)
    const { response } = readBody<Bought>(await pay(buyer), 200)
    assert.deepEqual([response?.['body'], response?.['body_base64']], [null, bytes.toString('base64')])
  })

  test("the agent's request is sent with its method, headers and body, and without headers that it cannot set", async () => {
    const buyer = await seedBuyer(given)
    const headers = { 'X-Query': 'yes', Cookie: 'a=b', Host: 'other', 'Payment-Signature': 'mine' }
    readBody(await pay(buyer, { method: 'POST', headers, body: '{"q":1}' }), 200)
    for (const { method, headers: sent, body } of seller.requests) {
      assert.deepEqual([method, sent['x-query'], sent.cookie, body], ['POST', 'yes', undefined, '{"q":1}'])
      assert.equal(sent.host, new URL(seller.url).host)
    }
    assert.equal(seller.paid.length, 1)
  })

  test('a price above the maximum is refused, and nothing is signed', async () => {
    const buyer = await seedBuyer(given)
    const answer = await pay(buyer, { max_amount_usdc: '0.009999' })
    const { details } = expectCode(answer, 400, 'price_too_high')
    assert.deepEqual(details, { price_usdc: '0.01', max_amount_usdc: '0.009999', unread_options: 0 })
    assert.equal(given.enclave.authorizations.length, 0)
  })

  test('the limits of the grant apply to purchases', async () => {
    const cases = [
      [{ maxPerTx: '0.009' }, 403, 'amount_too_large'],
      [{ dailyCap: '0.009' }, 403, 'daily_cap_exceeded'],
      [{ recipients: ['0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'] }, 403, 'recipient_not_allowed'],
      [{ x402: false }, 403, 'purchases_not_allowed'],
    ] as const
    for (const [options, status, code] of cases) {
      const buyer = await seedBuyer(given, options as Parameters<typeof seedBuyer>[1])
      expectCode(await pay(buyer), status, code)
    }
    assert.equal(seller.paid.length, 0)
    assert.equal(given.enclave.authorizations.length, 0)
  })

  test('a purchase that a limit rejects is recorded with its resource, without the query', async () => {
    const buyer = await seedBuyer(given, { maxPerTx: '0.009' })
    expectCode(await pay(buyer, { url: `${seller.url}/goods?token=secret#part` }), 403, 'amount_too_large')
    const transfer = { agent_id: buyer.agentId, wallet: buyer.wallet, to: RECIPIENT, amount_usdc: '1' }
    expectCode(await given.call({ path: '/v1/payments', key: buyer.key, body: transfer }), 403, 'amount_too_large')
    // A refusal is stored a moment after the response.
    const text = 'select resource_url from payment_refusals where workspace_id = $1 order by amount_usdc'
    const rows = await waitFor('both refusals', async () => {
      const found = await readRows(given.context.db, text, [buyer.workspace.id])
      return found.length === 2 && found
    })
    assert.deepEqual(
      rows.map((row) => row['resource_url']),
      [`${seller.url}/goods`, null],
    )
  })

  test('purchases and transfers share one 24-hour window', async () => {
    const buyer = await seedBuyer(given, { dailyCap: '1' })
    const body = { agent_id: buyer.agentId, wallet: buyer.wallet, to: RECIPIENT, amount_usdc: '0.995' }
    readBody(await given.call({ path: '/v1/payments', key: buyer.key, body }), 201)
    expectCode(await pay(buyer), 403, 'daily_cap_exceeded')
  })

  test('an unknown protocol, and offers that cannot be paid, are explained', async () => {
    const buyer = await seedBuyer(given)
    const { ask } = seller
    seller.ask = (response) => response.writeHead(402).end('<html>Pay me</html>')
    assert.deepEqual(expectCode(await pay(buyer), 400, 'payment_protocol_unknown').details, {
      status: 402,
      untrusted_body: '<html>Pay me</html>',
    })
    seller.ask = ask
    seller.accepts = [offerOf(given.context, { network: 'eip155:1' })]
    const { details } = expectCode(await pay(buyer), 400, 'payment_option_unsupported')
    const [skipped] = (details as { skipped: Wire[] }).skipped
    assert.deepEqual([skipped?.['network'], skipped?.['reason']], ['eip155:1', 'network_unknown'])
  })

  test('a resource that is out of reach, or not allowed, is no error of ours', async () => {
    const buyer = await seedBuyer(given)
    seller.ask = (response) => response.destroy()
    expectCode(await pay(buyer), 502, 'resource_unreachable')
    expectCode(await pay(buyer, { url: 'http://192.168.0.1/' }), 400, 'resource_url_not_allowed')
    expectCode(await pay(buyer, { url: 'ftp://example.com/' }), 400, 'resource_url_not_allowed')
  })

  test('if the enclave refuses, the payment fails at once and holds nothing', async () => {
    const buyer = await seedBuyer(given, { dailyCap: '0.01' })
    given.enclave.behave = () => 'reject'
    const { payment, response } = readBody<Bought>(await pay(buyer), 200)
    assert.deepEqual([payment['status'], payment['failure_code'], response], ['failed', 'enclave_refused', null])
    given.enclave.behave = () => 'sign'
    const replayed = readBody<Bought>(await pay(buyer), 200)
    assert.equal(replayed.payment['status'], 'failed')
    const other = readBody<Bought>(await pay(buyer, { idempotency_key: 'two' }), 200)
    assert.equal(other.delivery, 'delivered')
    assert.equal(seller.paid.length, 1)
  })

  test('if the signature is lost, the retry asks for the same authorization with the same key', async () => {
    const buyer = await seedBuyer(given)
    given.enclave.behave = () => 'sign and lose the answer'
    expectCode(await pay(buyer), 500, 'privy_call_failed')
    given.enclave.behave = () => 'sign'
    const { delivery } = readBody<Bought>(await pay(buyer), 200)
    assert.equal(delivery, 'delivered')
    const [one, other] = given.enclave.authorizations
    assert.deepEqual(one, other)
    assert.equal(seller.paid.length, 1)
  })

  test('after a signature may exist, a refusal does not end the reservation', async () => {
    const buyer = await seedBuyer(given)
    given.enclave.behave = () => 'sign and lose the answer'
    expectCode(await pay(buyer), 500, 'privy_call_failed')
    given.enclave.behave = () => 'reject'
    expectCode(await pay(buyer), 500, 'privy_call_failed')
    const [row] = await readRows(given.context.db, 'select status from payments where workspace_id = $1', [
      buyer.workspace.id,
    ])
    assert.equal(row?.['status'], 'pending')
  })

  test('a request that differs names the members, returns the stored response, and sends nothing', async () => {
    const buyer = await seedBuyer(given)
    const first = readBody<Bought>(await pay(buyer), 200)
    const sent = seller.requests.length
    const answer = await pay(buyer, { url: `${seller.url}/other`, max_amount_usdc: '2', memo: 'x' })
    assert.equal(answer.headers['idempotent-mismatch'], 'url, max_amount_usdc, memo')
    assert.equal(readBody<Bought>(answer, 200).payment['id'], first.payment['id'])
    assert.equal(seller.requests.length, sent)
    const invalid = await pay(buyer, { url: 7 })
    assert.equal(readBody<Bought>(invalid, 200).payment['id'], first.payment['id'])
    assert.match(String(invalid.headers['idempotent-mismatch']), /url/)
  })

  test('a key is one payment, whether it is a transfer or a purchase', async () => {
    const buyer = await seedBuyer(given)
    const transfer = {
      agent_id: buyer.agentId,
      wallet: buyer.wallet,
      to: RECIPIENT,
      amount_usdc: '0.01',
      idempotency_key: 'one',
    }
    seller.deliver = (response) => response.destroy()
    const bought = readBody<Bought>(await pay(buyer), 200)
    const paid = seller.paid.length
    const replayed = await given.call({ path: '/v1/payments', key: buyer.key, body: transfer })
    assert.equal(readBody<Bought>(replayed, 201).payment['id'], bought.payment['id'])
    assert.equal(replayed.headers['idempotent-mismatch'], 'kind')
    assert.equal(seller.paid.length, paid)
    assert.equal(given.enclave.authorizations.length, 1)
    const other = { ...transfer, idempotency_key: 'two' }
    const sent = readBody<Bought>(await given.call({ path: '/v1/payments', key: buyer.key, body: other }), 201)
    const answer = await pay(buyer, { idempotency_key: 'two' })
    assert.equal(readBody<Bought>(answer, 200).payment['id'], sent.payment['id'])
    assert.match(String(answer.headers['idempotent-mismatch']), /^kind/)
  })

  test('a credential of another agent gets the payment, but not the goods, and causes no request', async () => {
    const buyer = await seedBuyer(given)
    readBody(await pay(buyer), 200)
    const { workspace, mode } = buyer
    await createAgent(given.context, { workspaceId: workspace.id, mode, id: agent('other'), actor: OPERATOR })
    const { secret } = await issueKey(given.context, {
      workspaceId: workspace.id,
      mode,
      agentId: agent('other'),
      actor: OPERATOR,
    })
    const sent = seller.requests.length
    const answer = readBody<Bought>(await pay({ ...buyer, key: secret }), 200)
    assert.deepEqual([answer.payment['kind'], answer.response], ['x402', null])
    expectCode(await pay({ ...buyer, key: secret }, { idempotency_key: 'two' }), 403, 'agent_not_authorized')
    assert.equal(seller.requests.length, sent)
  })

  test('two requests with one key at the same time buy once', async () => {
    const buyer = await seedBuyer(given)
    const answers = await Promise.all([pay(buyer), pay(buyer), pay(buyer)])
    const ids = answers.map((answer) => readBody<Bought>(answer, 200).payment['id'])
    assert.equal(new Set(ids).size, 1)
    for (const answer of answers) assert.equal(readBody<Bought>(answer, 200).response?.['body'], 'goods')
    assert.equal(new Set(seller.paid.map(({ header }) => header)).size, 1)
    assert.equal(new Set(given.enclave.authorizations.map(({ message }) => message['nonce'])).size, 1)
  })

  test('the header is signed for an agent that fetches the resource itself, and returned again', async () => {
    const buyer = await seedBuyer(given)
    const required = { x402Version: 2, resource: { url: 'https://shop.internal/x' }, accepts: seller.accepts }
    const body = { payment_required: toBase64(required), resource_url: 'https://shop.internal/x', ...terms(buyer) }
    const first = await given.call({ path: '/v1/x402/sign', key: buyer.key, body })
    const signed = readBody<Wire>(first, 201)
    assert.equal(signed['header_name'], 'PAYMENT-SIGNATURE')
    assert.equal((signed['purchase'] as Wire)['delivery'], null)
    const again = await given.call({ path: '/v1/x402/sign', key: buyer.key, body })
    assert.deepEqual(readBody(again, 201), signed)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    assert.equal(given.enclave.authorizations.length, 1)
    const fetched = await pay(buyer)
    assert.match(String(fetched.headers['idempotent-mismatch']), /^kind/)
    assert.equal(readBody<Bought>(fetched, 200).response, null)
    const decoded = { ...body, payment_required: required, idempotency_key: 'two' }
    readBody(await given.call({ path: '/v1/x402/sign', key: buyer.key, body: decoded }), 201)
  })

  test('the URL of a resource that an agent fetches itself is rejected if it cannot be stored', async () => {
    const buyer = await seedBuyer(given)
    for (const url of [`https://shop.internal/${'é'.repeat(1_000)}`, `https://${'a'.repeat(300)}.internal/`]) {
      const body = { payment_required: toBase64({}), resource_url: url, ...terms(buyer) }
      const answer = await given.call({ path: '/v1/x402/sign', key: buyer.key, body })
      assert.equal(answer.status, 400)
      assert.equal((readError(answer).details as { path: string }[])[0]?.path, 'resource_url')
    }
  })

  test('a price is checked, and nothing is paid or recorded', async () => {
    const buyer = await seedBuyer(given)
    const rows = await given.countRows()
    const body = { url: `${seller.url}/goods`, agent_id: buyer.agentId, wallet: buyer.wallet }
    const price = readBody<Wire>(await given.call({ path: '/v1/x402/check', key: buyer.key, body }), 200)
    assert.deepEqual([price['status'], price['protocol'], price['price_usdc']], [402, 'x402_v2', '0.01'])
    assert.equal((price['allowed'] as Wire)['allowed'], true)
    const refused = await seedBuyer(given, { x402: false })
    const other = { ...body, agent_id: refused.agentId, wallet: refused.wallet }
    const told = readBody<Wire>(await given.call({ path: '/v1/x402/check', key: refused.key, body: other }), 200)
    assert.equal(((told['allowed'] as Wire)['error'] as Wire)['code'], 'purchases_not_allowed')
    seller.ask = (response) => response.writeHead(200).end('free')
    const free = readBody<Wire>(await given.call({ path: '/v1/x402/check', key: buyer.key, body }), 200)
    assert.deepEqual([free['status'], free['protocol'], free['price_usdc'], free['allowed']], [200, null, null, null])
    assert.deepEqual({ ...(await given.countRows()), agents: 0 }, { ...rows, agents: 0 })
  })

  test('a credential that may only read asks for a price with GET and HEAD only, so it sends no orders (D64, D94)', async () => {
    const { workspace } = await seedBuyer(given)
    const issue = { workspaceId: workspace.id, mode: 'test', scopes: ['wallet:read'], actor: OPERATOR } as const
    const { secret } = await issueKey(given.context, issue)
    const { tokens } = await seedTokens(given.context, { scopes: ['wallet:read'] })
    for (const key of [secret, tokens.accessToken]) {
      const ask = async (method: string, more: Wire = {}) =>
        await given.call({ path: '/v1/x402/check', key, body: { url: `${seller.url}/goods`, method, ...more } })
      seller.requests.length = 0
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const refused = await ask(method, { body: 'an order' })
        const { details } = expectError(refused, { type: 'forbidden', code: 'insufficient_scope' })
        assert.deepEqual(details, { required_scope: 'x402:pay' })
        assert.match(
          String(refused.headers['www-authenticate']),
          /^Bearer error="insufficient_scope", scope="x402:pay", resource_metadata="/,
        )
      }
      assert.equal(seller.requests.length, 0)
      for (const method of ['GET', 'HEAD']) readBody(await ask(method), 200)
      assert.equal(seller.requests.length, 2)
    }
  })

  test('every member that is not valid is named', async () => {
    const buyer = await seed(given.context)
    const cases = [
      [{ idempotency_key: undefined }, 'idempotency_key'],
      [{ method: 'TRACE' }, 'method'],
      [{ body: 'x' }, 'body'],
      [{ method: 'POST', body_base64: '@' }, 'body_base64'],
      [{ headers: { 'a b': 'x' } }, 'headers'],
      [{ headers: { a: 'x\n' } }, 'headers.a'],
      [{ wallet: '0x' }, 'wallet'],
      [{ max_amount_usdc: '-1' }, 'max_amount_usdc'],
      [{ memo: '\u0000' }, 'memo'],
    ] as const
    for (const [changes, path] of cases) {
      const answer = await pay(buyer, changes)
      assert.equal(answer.status, 400)
      const { details } = readError(answer)
      assert.equal((details as { path: string }[])[0]?.path, path)
    }
  })

  function terms(buyer: Seed): Wire {
    return { agent_id: buyer.agentId, wallet: buyer.wallet, max_amount_usdc: '1', idempotency_key: 'one' }
  }

  function expectCode(answer: Answer, status: number, code?: string) {
    const error = readError(answer)
    assert.deepEqual([answer.status, error.code], [status, code], answer.text)
    return error
  }

  async function pay(buyer: Seed, changes: Wire = {}): Promise<Answer> {
    const body = { url: `${seller.url}/goods`, ...terms(buyer), ...changes }
    return await given.call({ path: '/v1/x402/pay', key: buyer.key, body })
  }
})
