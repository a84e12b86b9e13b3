import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { listEndpoints } from '../../server/src/domain/webhooks/queries.ts'
import { replayDelivery } from '../../server/src/domain/webhooks/replay-delivery.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { seedTokens } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { makeEndpoint } from '../support/context/delivery-rows.ts'
import { expectError, readBody, send, type Answer } from '../support/http-client.ts'
import { seedManyPayments, seedPayment } from '../support/context/payment-rows.ts'
import { seedPurchase } from '../support/context/purchase-rows.ts'
import { readRows } from '../support/database/read-rows.ts'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { paymentBody } from '../support/service/test-service.ts'
import { waitFor } from '../support/wait-for.ts'
import type { Browser } from './browser.ts'
import { openVisitor } from './person.ts'

type Wire = Readonly<Record<string, unknown>>
interface Detail {
  readonly payment: Wire
  readonly grant: Wire
  readonly events: readonly (Wire & { readonly deliveries: readonly Wire[] })[]
}
interface Page {
  readonly payments: readonly Wire[]
  readonly next: string | null
}

describe('payments in the dashboard', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer()
  })
  after(() => server.close())

  test('a payment by an API key is shown with everything that is known about it', async () => {
    const fixture = await openConsoleFixture()
    const { endpoint } = await makeEndpoint(server.context, fixture.seeded.workspace)
    const made = paymentOf(await fixture.pay({ memo: 'lunch', idempotency_key: 'k', amount_usdc: '1.50' }))
    const detail = await fixture.read(String(made['id']))
    const [key] = await readRows(server.context.db, 'select id from api_keys where workspace_id = $1', [
      fixture.seeded.workspace.id,
    ])
    const payment: Wire = detail.payment
    const credential = payment['credential'] as Wire
    const expected: Wire = {
      ...made,
      kind: 'transfer',
      agent_id: fixture.seeded.agentId,
      grant_id: fixture.seeded.grant.id,
      failure_code: null,
      pending_reason: null,
      mode: 'test',
      accepted_at: payment['accepted_at'],
      settled_at: null,
      block_number: null,
      credential: { kind: 'key', id: key?.['id'], name: credential['name'] },
      signed_by: null,
      limits: { max_per_tx_usdc: '10', daily_cap_usdc: '100', spent_24h_usdc: '0' },
    }
    assert.deepEqual(payment, expected)
    assert.ok(String(payment['accepted_at']) >= String(payment['created_at']))
    assert.equal(detail.grant['id'], fixture.seeded.grant.id)
    assert.equal(detail.grant['spent_24h_usdc'], '1.5')
    const [event] = detail.events
    assert.deepEqual(
      [detail.events.length, event?.['type'], event?.['created_at']],
      [1, 'payment.created', payment['created_at']],
    )
    assert.deepEqual(
      event?.deliveries.map((delivery) => [delivery['url'], delivery['webhook_id'], delivery['status']]),
      [[endpoint.url, endpoint.id, 'pending']],
    )
  })

  test('reading a payment updates it from the chain, and shows its events with their deliveries', async () => {
    const fixture = await openConsoleFixture()
    await makeEndpoint(server.context, fixture.seeded.workspace)
    await makeEndpoint(server.context, fixture.seeded.workspace, { events: ['payment.confirmed'] })
    const made = paymentOf(await fixture.pay())
    // This second payment must not be affected by the confirmation of the first one.
    await fixture.pay()
    server.chains.test.receipts.set(String(made['tx_hash']), {
      contract: server.config.chains.test.usdc,
      from: fixture.seeded.wallet,
      to: RECIPIENT,
      amountMicro: 1_000_000n,
      blockNumber: server.chains.test.head,
    })
    const { payment, events } = await fixture.read(String(made['id']))
    assert.deepEqual([payment['status'], payment['block_number']], ['confirmed', Number(server.chains.test.head)])
    assert.deepEqual(
      events.map((event) => [event['type'], event['created_at'], event.deliveries.length]),
      [
        ['payment.created', payment['created_at'], 1],
        ['payment.confirmed', payment['settled_at'], 2],
      ],
    )
    const first = String(events[0]?.deliveries[0]?.['id'])
    await replayDelivery(server.context, {
      workspaceId: fixture.seeded.workspace.id,
      deliveryId: first,
      actor: OPERATOR,
    })
    const again = await fixture.read(String(made['id']))
    assert.deepEqual(
      again.events[0]?.deliveries.map((delivery) => delivery['trigger']),
      ['event', 'replay'],
    )
    assert.equal(
      (await listEndpoints(server.context, { workspaceId: fixture.seeded.workspace.id, mode: 'test' })).length,
      2,
    )
  })

  test('a payment that the enclave rejected shows that', async () => {
    const fixture = await openConsoleFixture()
    server.enclave.behave = () => 'reject'
    const made = paymentOf(await fixture.pay())
    server.enclave.behave = () => 'sign'
    const { payment, events } = await fixture.read(String(made['id']))
    assert.deepEqual([payment['failure_code'], payment['accepted_at']], ['enclave_refused', null])
    assert.deepEqual(
      events.map((event) => [event['type'], event['created_at']]),
      [
        ['payment.created', payment['created_at']],
        ['payment.failed', payment['settled_at']],
      ],
    )
  })

  test('a payment by a connection names its client; a payment without a credential names none', async () => {
    const fixture = await openConsoleFixture()
    const connected = await seedTokens(server.context, {
      workspace: fixture.seeded.workspace,
      agentId: fixture.seeded.agentId,
    })
    const made = paymentOf(await fixture.pay({}, connected.tokens.accessToken))
    const { payment } = await fixture.read(String(made['id']))
    const { kind, name } = payment['credential'] as Record<string, unknown>
    assert.deepEqual([kind, name], ['connection', connected.client.name])
    const bare = await seedPayment(server.context, fixture.seeded)
    const told = (await fixture.read(bare.id)).payment
    assert.deepEqual([told['credential'], told['accepted_at']], [null, null])
  })

  test('the list can be filtered by its parameters, page by page', async () => {
    const fixture = await openConsoleFixture()
    const made = paymentOf(await fixture.pay({ memo: 'lunch' }))
    const [first] = (await fixture.list()).payments
    const { agentId, grant, wallet } = fixture.seeded
    assert.deepEqual(first, {
      ...made,
      kind: 'transfer',
      agent_id: agentId,
      grant_id: grant.id,
      failure_code: null,
      pending_reason: null,
      purchase: null,
    })
    const ids = await seedManyPayments(server.context, fixture.seeded, {
      count: 120,
      before: new Date('2026-01-01T00:00:00Z'),
    })
    const all = [String(made['id']), ...ids.toReversed()]
    const walked: unknown[] = []
    let next: string | null = null
    do {
      const page: Page = await fixture.list(next === null ? '' : `before=${next}`)
      assert.ok(page.payments.length <= 50)
      walked.push(...page.payments.map(({ id }) => id))
      next = page.next
    } while (next !== null)
    assert.deepEqual(walked, all)
    const find = async (query: string) => (await fixture.list(query)).payments.map(({ id }) => id)
    assert.deepEqual(await find(`agent=${encodeURIComponent(agentId)}&q=LUNCH`), [made['id']])
    assert.deepEqual(await find('q=number%2077'), [ids[76]])
    assert.deepEqual(await find(`q=%20${String(made['id'])}%20`), [made['id']])
    assert.deepEqual(await find(`wallet=${wallet.toLowerCase()}&status=pending&from=2026-01-02T00:00:00Z`), [
      made['id'],
    ])
    assert.deepEqual(await find('to=2025-12-31T23:59:59.881Z'), [ids[0]])
    assert.equal((await find('q=')).length, 50)
    assert.deepEqual(await find('status=failed'), [])
    assert.deepEqual(await find(`recipient=${RECIPIENT.toLowerCase()}&min=1&max=1&sort=oldest`), ids.slice(0, 50))
    assert.deepEqual(await find('reason=reverted'), [])
    const cursor = String((await fixture.list('sort=smallest')).next)
    assert.match(cursor, /^1000000\.pay_/)
    assert.equal((await find(`sort=smallest&before=${cursor}`)).length, 50)
    const { sums } = await fixture.browser.ask<{ sums: Wire }>('GET', `${fixture.at('payments/sums')}?mode=test`)
    const none = { confirmed: 0, confirmed_usdc: '0', failed: 0, since: null }
    assert.deepEqual(sums, { ...none, pending: 121, pending_usdc: '121' })
  })

  test('a purchase is listed with the host that it was bought from, and the export says what was bought', async () => {
    const fixture = await openConsoleFixture()
    const { seeded } = fixture
    const bought = await seedPurchase(server.context, seeded, {}, { status: 'confirmed' })
    const lost = await seedPurchase(server.context, seeded, { delivery: 'failed' }, { status: 'confirmed' })
    await seedPayment(server.context, seeded)
    const list = async (query: string) =>
      (await fixture.list(query)).payments.map(({ id, kind, purchase }) => ({ id, kind, purchase }))
    const goods = { resource_url: 'https://api.example/goods', host: 'api.example', is_resolved: false }
    const expected = [
      { id: lost.id, kind: 'x402', purchase: { ...goods, delivery: 'failed' } },
      { id: bought.id, kind: 'x402', purchase: { ...goods, delivery: 'delivered' } },
    ].toSorted((left, right) => (left.id < right.id ? 1 : -1))
    assert.deepEqual(await list('kind=x402'), expected)
    assert.deepEqual(
      (await list('kind=undelivered')).map(({ id }) => id),
      [lost.id],
    )
    assert.equal((await list('kind=transfer')).length, 1)
    const { text } = await fixture.browser.call('GET', `${fixture.at('payments/export')}?mode=test&kind=undelivered`)
    const [, line = '', end] = text.split('\r\n')
    assert.match(line, new RegExp(`^${lost.id},.*,x402,.*,https://api\\.example/goods,failed,`))
    assert.equal(end, '')
    // The limits under which a purchase was admitted are shown in the same way as those of any payment.
    const { payment } = await fixture.read(bought.id)
    assert.equal((payment['limits'] as Wire)['spent_24h_usdc'], '0')
  })

  const faults = [
    ['mode', 'mode=none'],
    ['status', 'status=sent'],
    ['kind', 'kind=x403'],
    ['agent', 'agent=%20x'],
    ['agent', 'agent='],
    ['wallet', 'wallet=0x12'],
    ['q', 'q=a%00b'],
    ['q', `q=${'x'.repeat(401)}`],
    ['from', 'from=yesterday'],
    ['to', 'to=2026-02-30T00:00:00Z'],
    ['recipient', 'recipient=0x12'],
    ['reason', 'reason=why'],
    ['min', 'min=-1'],
    ['max', 'max=1e3'],
    ['sort', 'sort=up'],
    ['before', 'sort=largest&before=pay_01M7ZJDS8P0000000000030D0F'],
    ['before', 'before=1.pay_01M7ZJDS8P0000000000030D0F'],
    ['before', 'before=pay_1'],
    ['before', 'before=ref_01M7ZJDS8P0000000000030D0F'],
  ] as const
  for (const [member, query] of faults) {
    test(`${query.slice(0, 40)} is 400, and the error names ${member}`, async () => {
      const { browser, at } = await openConsoleFixture()
      const isOfList = member === 'before' || member === 'sort'
      const paths = [at('payments'), ...(isOfList ? [] : [at('payments/export'), at('payments/sums')])]
      for (const path of paths) {
        const full = `${path}?${query.startsWith('mode') ? '' : 'mode=test&'}${query}`
        const { details } = expectError(await browser.call('GET', full), { type: 'validation_failed' })
        assert.equal((details as { path: string }[])[0]?.path, member)
      }
    })
  }

  test('payments of another workspace or mode are not found', async () => {
    const [fixture, other] = [await openConsoleFixture(), await openConsoleFixture()]
    const id = String(paymentOf(await fixture.pay())['id'])
    await fixture.pay({ amount_usdc: '11' })
    const refusal = String((await fixture.findRefusal())['id'])
    for (const path of [`payments/${id}`, `refusals/${refusal}`]) {
      assert.ok(await fixture.browser.ask('GET', `${fixture.at(path)}?mode=test`))
      await fixture.browser.refuse('GET', `${fixture.at(path)}?mode=live`, { type: 'not_found' })
      await other.browser.refuse('GET', `${other.at(path)}?mode=test`, { type: 'not_found' })
      await other.browser.refuse('GET', `${fixture.at(path)}?mode=test`, { type: 'not_found' })
      await fixture.browser.refuse('GET', fixture.at(path), { type: 'validation_failed' })
    }
    assert.deepEqual(await fixture.list('', 'live'), { payments: [], further: [], next: null })
  })

  test('a rejected request is listed with its response', async () => {
    const fixture = await openConsoleFixture()
    const answer = await fixture.pay({ amount_usdc: '11', memo: 'dinner', idempotency_key: 'k' })
    const error = expectError(answer, { type: 'forbidden', code: 'amount_too_large' })
    const refusal = await fixture.findRefusal()
    const page = await fixture.browser.ask<{ refusals: Wire[] }>('GET', `${fixture.at('refusals')}?mode=test`)
    assert.deepEqual(page, { refusals: [refusal], next: null })
    const { times, first_at: firstAt, ...alone } = refusal
    assert.deepEqual([times, firstAt], [1, refusal['created_at']])
    assert.deepEqual(alone, {
      id: refusal['id'],
      mode: 'test',
      code: 'amount_too_large',
      message: error.message,
      details: error.details,
      agent_id: fixture.seeded.agentId,
      wallet: fixture.seeded.wallet,
      to: RECIPIENT,
      amount_usdc: '11',
      memo: 'dinner',
      idempotency_key: 'k',
      resource_url: null,
      credential: refusal['credential'],
      created_at: refusal['created_at'],
    })
    assert.equal((refusal['credential'] as Wire)['kind'], 'key')
    const shown = await fixture.browser.ask('GET', `${fixture.at(`refusals/${String(refusal['id'])}`)}?mode=test`)
    assert.deepEqual(shown, { refusal: alone })
    assert.deepEqual((await fixture.list()).payments, [])
    const none = await fixture.browser.ask<{ refusals: Wire[] }>(
      'GET',
      `${fixture.at('refusals')}?mode=test&agent=nobody`,
    )
    assert.deepEqual(none.refusals, [])
  })

  test('bad input, a missing credential and an agent of another connection are not stored as rejected requests', async () => {
    const fixture = await openConsoleFixture()
    const { tokens } = await seedTokens(server.context, {
      workspace: fixture.seeded.workspace,
      scopes: ['wallet:read'],
    })
    expectError(await fixture.pay({ amount_usdc: '-1' }), { type: 'validation_failed', code: 'amount_invalid' })
    expectError(await fixture.pay({ to: '0x1' }), { type: 'validation_failed', code: 'address_invalid' })
    expectError(await fixture.pay({}, 'svc_test_none'), { type: 'unauthenticated' })
    expectError(await fixture.pay({}, tokens.accessToken), { type: 'forbidden', code: 'insufficient_scope' })
    // Rejected requests are stored in order. So once the next one is in the list, the list would also contain any of
    // the four requests above that was stored.
    await fixture.pay({ amount_usdc: '11' })
    const refusal = await fixture.findRefusal()
    const page = await fixture.browser.ask('GET', `${fixture.at('refusals')}?mode=test`)
    assert.deepEqual([page, refusal['code']], [{ refusals: [refusal], next: null }, 'amount_too_large'])
  })

  async function openConsoleFixture() {
    const seeded = await seed(server.context)
    const { browser, userId } = await openVisitor(server)
    await addMember(server.context, { workspace: seeded.workspace, userId, role: 'viewer', actor: OPERATOR })
    const at = (path: string) => `/console/workspaces/${seeded.workspace.slug}/${path}`
    return {
      seeded,
      browser,
      at,
      pay: (changes: Wire = {}, key?: string) => payWith(seeded, changes, key),
      list: (query = '', mode = 'test') =>
        browser.ask<Page>('GET', `${at('payments')}?mode=${mode}${query === '' ? '' : `&${query}`}`),
      findRefusal: () =>
        waitFor('a refusal', async () => {
          const path = `${at('refusals')}?mode=test`
          return (await browser.ask<{ refusals: Wire[] }>('GET', path)).refusals[0]
        }),
      read: (id: string) => browser.ask<Detail>('GET', `${at(`payments/${id}`)}?mode=test`),
    } satisfies Record<string, unknown> & { browser: Browser; seeded: Seed }
  }

  async function payWith(seeded: Seed, changes: Wire, key: string = seeded.key): Promise<Answer> {
    return await send(server.url, { path: '/v1/payments', key, body: paymentBody(seeded, changes) })
  }
})

function paymentOf(answer: Answer): Wire {
  return readBody<{ payment: Wire }>(answer, 201).payment
}
