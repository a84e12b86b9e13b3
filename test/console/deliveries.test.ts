import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { ATTEMPTS_MAX } from '../../server/src/domain/webhooks/retry-schedule.ts'
import { readAudit } from '../support/context/audit.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { announce } from '../support/context/delivery-rows.ts'
import { seedDelivery } from '../support/context/webhook-rows.ts'
import { WebhookDesk, type Log, type WireDelivery } from './webhook-desk.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const DISABLED = { type: 'conflict', code: 'endpoint_disabled' } as const

const NO_CONTENT = { statusCode: 204, error: null, responseBody: Buffer.alloc(0) }
const SERVER_ERROR = {
  statusCode: 500,
  error: 'http_error',
  responseBody: Buffer.from('a\u0000\xff', 'latin1'),
} as const

describe('webhook deliveries in the dashboard', () => {
  let server: ConsoleServer
  let fixture: WebhookDesk
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    fixture = await WebhookDesk.open(server)
  })
  after(() => server.close())

  describe('a delivery', () => {
    test('shows each attempt with its response, and what was sent', async () => {
      const endpoint = await fixture.createEndpoint()
      const { id } = endpoint
      const data = { payment: { memo: 'é✓', id: 'pay_x' } }
      const { id: deliveryId, eventId, createdAt } = await seedDelivery(server.context, endpoint, { data })
      const path = fixture.at(`deliveries/${deliveryId}`)
      const common = {
        ...{ id: deliveryId, mode: 'test', webhook_id: id, event_id: eventId, event_type: 'payment.confirmed' },
        ...{ trigger: 'event', created_at: createdAt.toISOString() },
      }
      const body =
        `{"id":"${eventId}","type":"payment.confirmed","created_at":"${createdAt.toISOString()}","mode":"test",` +
        `"account_slug":"${fixture.workspace.slug}","data":${JSON.stringify(data)}}`
      const waiting = { attempt_count: 0, next_attempt_at: createdAt.toISOString(), finished_at: null }
      assert.deepEqual(await fixture.browser.ask('GET', path), {
        delivery: { ...common, status: 'pending', ...waiting },
        attempts: [],
        body,
      })
      const failed = await fixture.attempt(SERVER_ERROR)
      const endedAt = new Date(failed.startedAt.getTime() + failed.durationMs)
      const retryAt = new Date(endedAt.getTime() + 60_000)
      const first = {
        ...{ number: 1, at: failed.startedAt.toISOString(), status_code: 500, error: 'http_error' },
        ...{ duration_ms: 25, response_body: 'a\u0000\ufffd' },
      }
      assert.deepEqual(await fixture.browser.ask('GET', path), {
        delivery: {
          ...common,
          status: 'pending',
          ...waiting,
          attempt_count: 1,
          next_attempt_at: retryAt.toISOString(),
        },
        attempts: [first],
        body,
      })
      const [webhook] = await fixture.list()
      assert.equal(webhook?.failing_since, endedAt.toISOString())
    })

    test('is listed with its payment, and with the result of its last attempt', async () => {
      const endpoint = await fixture.createEndpoint()
      const payment = { id: 'pay_x', amount_usdc: '1.5' }
      const { id } = await seedDelivery(server.context, endpoint, { data: { payment: { ...payment, memo: 'é' } } })
      const list = async () => {
        const path = `${fixture.at('deliveries')}?mode=test`
        return (await fixture.browser.ask<{ deliveries: object[] }>('GET', path)).deliveries
      }
      assert.partialDeepStrictEqual(await list(), [{ id, last_attempt: null, payment }])
      await fixture.attempt(SERVER_ERROR)
      const last_attempt = { status_code: 500, error: 'http_error' }
      assert.partialDeepStrictEqual(await list(), [{ id, last_attempt, payment }])
    })

    test('to an address that does not respond has an attempt without a response', async () => {
      const delivery = await seedDelivery(server.context, await fixture.createEndpoint())
      await fixture.attempt({ statusCode: null, error: 'connection_refused', responseBody: null })
      const { attempts } = await fixture.browser.ask<{ attempts: object[] }>(
        'GET',
        fixture.at(`deliveries/${delivery.id}`),
      )
      assert.partialDeepStrictEqual(attempts, [{ status_code: null, error: 'connection_refused', response_body: null }])
    })

    test('is replayed as a new delivery of the same event, and its own schedule continues', async () => {
      const endpoint = await fixture.createEndpoint()
      const first = await seedDelivery(server.context, endpoint)
      const path = fixture.at(`deliveries/${first.id}/replay`)
      const { delivery } = await fixture.browser.ask<{ delivery: WireDelivery }>('POST', path, {}, 201)
      assert.partialDeepStrictEqual(delivery, {
        ...{ webhook_id: endpoint.id, event_id: first.eventId, event_type: 'payment.confirmed', trigger: 'replay' },
        ...{ status: 'pending', attempt_count: 0 },
      })
      assert.notEqual(delivery.id, first.id)
      assert.deepEqual(
        (await fixture.readLog(`event=${first.eventId}`)).deliveries.map(({ id: found, status }) => [found, status]),
        [
          [delivery.id, 'pending'],
          [first.id, 'pending'],
        ],
      )
    })

    test('is not replayed to a disabled endpoint, or after 30 days, when its body is deleted too', async () => {
      const endpoint = await fixture.createEndpoint()
      const { id } = endpoint
      const young = await seedDelivery(server.context, endpoint)
      const createdAt = new Date(server.clock.now().getTime() - 30 * DAY_MS - 1_000)
      const old = await seedDelivery(server.context, endpoint, { createdAt })
      const gone = { type: 'not_found', code: 'event_not_found' } as const
      await fixture.browser.refuse('POST', fixture.at(`deliveries/${old.id}/replay`), gone, {})
      const { body } = await fixture.browser.ask<{ body: unknown }>('GET', fixture.at(`deliveries/${old.id}`))
      assert.equal(body, null)
      await fixture.change(id, { enabled: false })
      await fixture.browser.refuse('POST', fixture.at(`deliveries/${young.id}/replay`), DISABLED, {})
    })

    test('of a test event is treated like any other', async () => {
      const { id } = await fixture.create({ events: ['inbound.received'] })
      const { delivery } = await fixture.browser.ask<{ delivery: WireDelivery }>(
        'POST',
        fixture.at(`webhooks/${id}/test`),
        {},
        201,
      )
      assert.partialDeepStrictEqual(delivery, { event_type: 'webhook.test', trigger: 'test', status: 'pending' })
      const { body } = await fixture.browser.ask<{ body: string }>('GET', fixture.at(`deliveries/${delivery.id}`))
      const sent = JSON.parse(body) as { id: string; data: unknown }
      assert.deepEqual([sent.id, sent.data], [delivery.event_id, { webhook: { id } }])
      const listed = { ...delivery, last_attempt: null, payment: null }
      assert.deepEqual((await fixture.readLog('type=webhook.test')).deliveries, [listed])
      await fixture.change(id, { enabled: false })
      await fixture.browser.refuse('POST', fixture.at(`webhooks/${id}/test`), DISABLED, {})
    })
  })

  test('a range of time is replayed: only failed deliveries, or all of them', async () => {
    const endpoint = await fixture.createEndpoint()
    const { id } = endpoint
    const now = server.clock.now().getTime()
    for (const ageDays of [3, 2, 1]) {
      const delivery = await seedDelivery(server.context, endpoint, { createdAt: new Date(now - ageDays * DAY_MS) })
      if (ageDays === 1) continue
      const isFailing = ageDays === 2
      for (let number = 1; number <= (isFailing ? ATTEMPTS_MAX : 1); number += 1) {
        const outcome = isFailing ? SERVER_ERROR : NO_CONTENT
        await fixture.attempt(outcome, { id: delivery.id, laterMs: number * DAY_MS })
      }
    }
    const path = fixture.at(`webhooks/${id}/replay`)
    const replay = async (fromDays: number, toDays: number, only: string): Promise<unknown> => {
      const [from, to] = [fromDays, toDays].map((days) => new Date(now - days * DAY_MS).toISOString())
      return await fixture.browser.ask('POST', path, { from, to, only }, 201)
    }
    assert.deepEqual(await replay(4, 2.5, 'failed'), { replayed: 0 })
    const known = (await fixture.readLog()).deliveries.map((delivery) => delivery.id)
    assert.deepEqual(await replay(4, 2.5, 'all'), { replayed: 1 })
    // A second replay is rejected while the first one is still queued.
    const whole = { from: new Date(0).toISOString(), to: new Date(now).toISOString(), only: 'all' }
    await fixture.browser.refuse('POST', path, { type: 'conflict', code: 'replays_pending' }, whole)
    const sentAgain = (await fixture.readLog()).deliveries.find((delivery) => !known.includes(delivery.id))
    assert.ok(sentAgain !== undefined)
    await fixture.attempt(NO_CONTENT, { id: sentAgain.id })
    assert.deepEqual(await replay(4, 0, 'failed'), { replayed: 1 })
    const replays = (await readAudit(server.context.db, fixture.workspace.id)).filter(
      (row) => row['action'] === 'webhook.replayed',
    )
    assert.equal(replays.length, 2)
    for (const row of replays) assert.deepEqual([row['actor_kind'], row['actor_id']], ['user', fixture.userId])
    assert.equal((await fixture.readLog()).deliveries.length, 5)
    await fixture.change(id, { enabled: false })
    const range = { from: new Date(now - DAY_MS).toISOString(), to: new Date(now).toISOString(), only: 'all' }
    await fixture.browser.refuse('POST', path, DISABLED, range)
  })

  test('the list has pages of 50, the newest first, without gaps or duplicates while new ones are added', async () => {
    const endpoint = await fixture.createEndpoint()
    const now = server.clock.now().getTime()
    const made: string[] = []
    for (let index = 0; index < 120; index += 1) {
      made.push((await seedDelivery(server.context, endpoint, { createdAt: new Date(now - 60_000 + index) })).id)
    }
    const read: string[] = []
    let pages = 0
    for (let next: string | null = ''; next !== null; pages += 1) {
      const page: Log = await fixture.readLog(next === '' ? '' : `before=${next}`)
      read.push(...page.deliveries.map((delivery) => delivery.id))
      next = page.next
      await seedDelivery(server.context, endpoint)
    }
    assert.deepEqual([pages, read], [3, made.toReversed()])
  })

  test('the list can be filtered by endpoint, type, status, event and time, and by all of them at once', async () => {
    const [one, two] = [await fixture.create(), await fixture.create({ events: ['payment.failed'] })]
    await fixture.create({ mode: 'live' })
    const now = server.clock.now().getTime()
    const old = await announce(server.context, fixture.workspace, {
      createdAt: new Date(now - DAY_MS),
      type: 'payment.failed',
    })
    const young = await announce(server.context, fixture.workspace, {
      createdAt: new Date(now - 1_000),
      type: 'payment.failed',
    })
    const other = await announce(server.context, fixture.workspace, { type: 'inbound.received' })
    await announce(server.context, fixture.workspace, { mode: 'live' })
    await fixture.attempt(NO_CONTENT, { id: `dlv_${young.id.slice(4)}_${two.id.slice(4)}` })
    const midday = encodeURIComponent(new Date(now - DAY_MS / 2).toISOString())
    const cases: readonly (readonly [string, readonly (readonly [event: string, webhook: string])[]])[] = [
      [
        '',
        [
          [other.id, one.id],
          [young.id, two.id],
          [young.id, one.id],
          [old.id, two.id],
          [old.id, one.id],
        ],
      ],
      [
        `webhook=${two.id}`,
        [
          [young.id, two.id],
          [old.id, two.id],
        ],
      ],
      ['type=inbound.received', [[other.id, one.id]]],
      ['type=permission.granted', []],
      ['status=succeeded', [[young.id, two.id]]],
      ['status=failed', []],
      [
        `event=${old.id}`,
        [
          [old.id, two.id],
          [old.id, one.id],
        ],
      ],
      [
        `from=${midday}`,
        [
          [other.id, one.id],
          [young.id, two.id],
          [young.id, one.id],
        ],
      ],
      [
        `to=${midday}`,
        [
          [old.id, two.id],
          [old.id, one.id],
        ],
      ],
      [`webhook=${one.id}&type=payment.failed&status=pending&event=${young.id}&from=${midday}`, [[young.id, one.id]]],
    ]
    for (const [query, expected] of cases) {
      const { deliveries, next } = await fixture.readLog(query)
      const found = deliveries.map(({ event_id: event, webhook_id: webhook }) => [event, webhook])
      assert.deepEqual([found, next], [expected, null], query)
    }
    assert.equal((await fixture.browser.ask<Log>('GET', `${fixture.at('deliveries')}?mode=live`)).deliveries.length, 1)
  })
})
