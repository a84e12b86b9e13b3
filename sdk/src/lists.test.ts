import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { drop, raw, startFakeApi, WALLET, type FakeApi } from '../test/fake-api.ts'
import { AbortedError, ConflictError, type Event } from './main.ts'

const REPEATED = { name: 'ConnectionError', message: /^The list repeats itself/ }

async function readAll(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) continue
}

describe('what the client reads', () => {
  let api: FakeApi
  before(async () => {
    api = await startFakeApi()
  })
  afterEach(() => api.reset())
  after(() => api.close())

  test('the ledger is read page after page, with the filters on each request', async () => {
    const ids = ['pay_3', 'pay_2', 'pay_1']
    api.handle('GET /v1/ledger', ({ query }) => {
      const start = ids.indexOf(query.get('starting_after') ?? '') + 1
      const entries = ids.slice(start, start + 2).map((id) => ({ id }))
      return { status: 200, body: { entries, has_more: start + 2 < ids.length } }
    })
    const seen: string[] = []
    for await (const { id } of api.bursar.ledger.list({ agent_id: 'a/b', limit: 2 })) seen.push(id)
    assert.deepEqual(seen, ids)
    assert.deepEqual(
      api.received.map(({ query }) => query.toString()),
      ['agent_id=a%2Fb&limit=2', 'agent_id=a%2Fb&limit=2&starting_after=pay_2'],
    )
  })

  test('no page is read that the caller does not need', async () => {
    api.handle('GET /v1/ledger', () => ({ status: 200, body: { entries: [{ id: 'pay_1' }], has_more: true } }))
    for await (const { id } of api.bursar.ledger.list()) {
      assert.equal(id, 'pay_1')
      break
    }
    assert.equal(api.received.length, 1)
  })

  test('wallets continue after the last address, even after a lost response', async () => {
    api.handle('GET /v1/wallets', ({ query }) =>
      query.has('starting_after')
        ? { status: 200, body: { wallets: [{ address: '0xB' }], has_more: false } }
        : { status: 200, body: { wallets: [{ address: '0xA' }], has_more: true } },
    )
    api.script(drop({ afterWork: true }))
    const seen: string[] = []
    for await (const { address } of api.bursar.wallets.list()) seen.push(address)
    assert.deepEqual(seen, ['0xA', '0xB'])
    assert.equal(api.received.length, 3)
  })

  for (const [what, next] of [
    ['the same page again', () => 'evt_1'],
    ['an earlier page again', (cursor: string | null) => (cursor === 'evt_1' ? 'evt_2' : 'evt_1')],
  ] as const) {
    test(`a list in which the service returns ${what} ends with an error`, async () => {
      api.handle('GET /v1/events', ({ query }) => {
        return { status: 200, body: { events: [{ id: 'evt_1' }], next_cursor: next(query.get('cursor')) } }
      })
      await assert.rejects(readAll(api.bursar.events.list()), REPEATED)
      await assert.rejects(readAll(api.bursar.events.follow({ cursor: 'evt_0' })), REPEATED)
    })
  }

  test('a ledger that returns the same page again, or an empty page and says that more follow, ends with an error', async () => {
    const { ledger, wallets } = api.bursar
    api.handle('GET /v1/ledger', () => ({ status: 200, body: { entries: [{ id: 'pay_1' }], has_more: true } }))
    await assert.rejects(readAll(ledger.list()), REPEATED)
    api.handle('GET /v1/ledger', () => ({ status: 200, body: { entries: [], has_more: true } }))
    await assert.rejects(readAll(ledger.list()), {
      name: 'ConnectionError',
      message: /empty, but says that more follow/,
    })
    api.handle('GET /v1/wallets', () => ({ status: 200, body: { wallets: [], has_more: true } }))
    await assert.rejects(readAll(wallets.list()), {
      name: 'ConnectionError',
      message: /empty, but says that more follow/,
    })
  })

  test('a page without its position is not taken for a page', async () => {
    api.handle('GET /v1/events', () => ({ status: 200, body: { events: [] } }))
    await assert.rejects(readAll(api.bursar.events.list({}, { retriesMax: 0 })), /not one of the Bursar API/)
    api.handle('GET /v1/ledger', () => ({ status: 200, body: { entries: [] } }))
    await assert.rejects(readAll(api.bursar.ledger.list({}, { retriesMax: 0 })), /not one of the Bursar API/)
  })

  test('following events begins one minute before now, by the clock of the service, and continues after the last one', async () => {
    api.handle('GET /v1/me', () => ({ status: 200, body: { server_time: '2031-01-01T00:00:00.000Z' } }))
    const events = [1, 2, 3].map((n) => ({ id: `evt_${n}`, type: 'payment.created' }))
    api.handle('GET /v1/events', ({ query }) => {
      const start = events.findIndex(({ id }) => id === query.get('cursor')) + 1
      // The third event happens while the client waits.
      const readable = events.slice(start, api.waits.length === 0 ? 2 : 3)
      return { status: 200, body: { events: readable.slice(0, 1), next_cursor: readable[1] ? readable[0]?.id : null } }
    })
    const seen: Event[] = []
    for await (const event of api.bursar.events.follow({ type: 'payment.created' })) {
      seen.push(event)
      if (seen.length === 3) break
    }
    assert.deepEqual(seen, events)
    assert.deepEqual(api.waits, [5_000])
    assert.deepEqual(
      api.received.map(({ query }) => [query.get('order'), query.get('cursor'), query.get('created_after')]),
      [
        [null, null, null],
        ['asc', null, '2030-12-31T23:59:00.000Z'],
        ['asc', 'evt_1', null],
        ['asc', 'evt_2', null],
      ],
    )
  })

  test('following events ends when the caller aborts it', async () => {
    const controller = new AbortController()
    api.handle('GET /v1/me', () => ({ status: 200, body: { server_time: '2031-01-01T00:00:00.000Z' } }))
    api.handle('GET /v1/events', () => {
      controller.abort('enough')
      return { status: 200, body: { events: [], next_cursor: null } }
    })
    const events = api.bursar.events.follow({}, { signal: controller.signal })
    await assert.rejects(events.next(), (error) => error instanceof AbortedError && error.cause === 'enough')
  })

  test('ids in a path are encoded', async () => {
    api.handle('GET /v1/agents/a%2F%C3%BC', () => ({ status: 200, body: { agent: { id: 'a/ü' } } }))
    assert.equal((await api.bursar.agents.get('a/ü')).id, 'a/ü')
  })

  test('the purchase of a payment is null if it is a transfer', async () => {
    api.handle('GET /v1/payments/pay_1', () => ({ status: 200, body: { payment: { id: 'pay_1' } } }))
    assert.equal(await api.bursar.payments.getPurchase('pay_1'), null)
  })

  test('evidence is the text of the response, with its spaces and the order of its members', async () => {
    const text = '{ "z": "é",\n "format":"bursar-evidence/1","a":1 }'
    api.handle('GET /v1/payments/pay_1/evidence', () => ({ status: 200, body: {} }))
    api.script(raw(200, text))
    assert.equal(await api.bursar.payments.evidence('pay_1'), text)
    api.handle('GET /v1/payments/pay_2/evidence', () => ({ status: 200, body: { format: 'bursar-evidence/2' } }))
    await assert.rejects(api.bursar.payments.evidence('pay_2', { retriesMax: 0 }), { name: 'ConnectionError' })
  })

  test('evidence that is not ready is an error that says when to ask again', async () => {
    const details = { reason: 'signature_usable', retry_at: '2031-01-01T00:00:00.000Z' }
    const error = { type: 'conflict', code: 'evidence_not_ready', message: 'Not yet.', details }
    api.handle('GET /v1/payments/pay_1/evidence', () => ({
      ...{ status: 409, body: { error }, headers: { 'retry-after': '240' } },
    }))
    await assert.rejects(api.bursar.payments.evidence('pay_1'), (thrown) => {
      assert.ok(thrown instanceof ConflictError)
      assert.deepEqual([thrown.code, thrown.details, thrown.retryAfterSeconds], [error.code, details, 240])
      return true
    })
  })

  test('a body that is not what the operation returns is not passed on', async () => {
    api.handle('GET /v1/me', () => ({ status: 200, body: { hello: WALLET } }))
    await assert.rejects(api.bursar.me({ retriesMax: 0 }), { name: 'ConnectionError', outcome: null })
  })
})
