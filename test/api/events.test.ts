import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { EVENT_TYPES, type DomainEvent, type EventType } from '../../server/src/domain/events/event.ts'
import { formatEvent } from '../../server/src/domain/events/format-event.ts'
import { findEvent, insertEvents } from '../../server/src/domain/events/events-store.ts'
import { createId } from '../../server/src/values/ids.ts'
import { seedTokens } from '../support/context/connection-rows.ts'
import { eventData, paymentData } from '../support/context/event-data.ts'
import { expectError, readBody, type Answer } from '../support/http-client.ts'
import { readRows } from '../support/database/read-rows.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'

const SECOND_MS = 1_000
const DAY_MS = 24 * 60 * 60 * SECOND_MS
const MISSING = { type: 'not_found', code: 'event_not_found' } as const
const PAYMENT = paymentData('payment.confirmed', new Date())
const INVALID = { type: 'validation_failed' } as const

interface WireEvent {
  readonly id: string
  readonly type: string
  readonly created_at: string
}

interface Page {
  readonly events: readonly WireEvent[]
  readonly next_cursor: string | null
}

interface Given {
  readonly age?: number
  readonly type?: EventType
  readonly data?: Readonly<Record<string, unknown>>
}

describe('events over HTTP', () => {
  let given: TestService
  before(async () => {
    given = await openTestService()
  })
  afterEach(() => given.service.clock.setOffset(0))
  after(() => given.close())

  describe('an event', () => {
    test('has exactly the fields of D42, in the list and alone, if a payment caused it', async () => {
      const seeded = await seed(given.context)
      const paid = await given.call({ path: '/v1/payments', key: seeded.key, body: paymentBody(seeded) })
      const { payment } = readBody<{ payment: { created_at: string } }>(paid, 201)
      const { events, next_cursor: next } = await list(seeded)
      const [event, ...others] = events
      assert.deepEqual([others, next], [[], null])
      assert.match(String(event?.id), /^evt_[0-9A-HJKMNP-TV-Z]{26}$/)
      assert.deepEqual(event, {
        id: event?.id,
        type: 'payment.created',
        created_at: event?.created_at,
        mode: 'test',
        account_slug: seeded.workspace.slug,
        data: { payment: { ...payment, tx_hash: null } },
      })
      assert.match(event?.created_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      const alone = await given.call({ path: `/v1/events/${event?.id}`, key: seeded.key })
      assert.deepEqual(readBody(alone, 200), { event })
    })

    test('is returned byte for byte as it was written, with its members in order and any text', async () => {
      const seeded = await seed(given.context)
      const data = { zeta: 'é✓ 🍜 \u2028 "\\', alpha: [1.5, null, { y: '', x: true }], payment: reversed(PAYMENT) }
      const made = await insert(seeded, { data })
      const text =
        `{"id":"${made.id}","type":"payment.confirmed","created_at":"${made.createdAt.toISOString()}","mode":"test",` +
        `"account_slug":"${seeded.workspace.slug}","data":${JSON.stringify(data)}}`
      const listed = await given.call({ path: '/v1/events', key: seeded.key })
      assert.equal(listed.text, `{"events":[${text}],"next_cursor":null}`)
      const alone = await given.call({ path: `/v1/events/${made.id}`, key: seeded.key })
      assert.equal(alone.text, `{"event":${text}}`)
      const stored = await given.context.db.read(findEvent(seeded.workspace.id, made.id))
      assert.equal(stored && formatEvent(stored, seeded.workspace.slug), text, 'what a delivery sends')
    })

    test('of another mode or workspace, or one that does not exist, is 404, and is in no list', async () => {
      const [seeded, other] = [await seed(given.context), await seed(given.context)]
      const theirs = await insert(other)
      const live = await insert({ ...seeded, mode: 'live' })
      assert.deepEqual((await list(seeded)).events, [])
      assert.deepEqual(idsOf(await list(seeded, {}, 'live')), [live.id])
      const odd = [
        'evt_',
        'x',
        live.id.toLowerCase(),
        `${live.id}0`,
        live.id.replace('evt', 'pay'),
        '%00',
        '%F0%9F%8D%9C',
      ]
      for (const id of [theirs.id, live.id, createId('event', new Date()), ...odd]) {
        expectError(await given.call({ path: `/v1/events/${id}`, key: seeded.key }), MISSING)
      }
    })

    test('can be read for 30 days, and not a second longer', async () => {
      const seeded = await seed(given.context)
      const { id, createdAt } = await insert(seeded)
      const path = `/v1/events/${id}`
      const age = Date.now() - createdAt.getTime()
      given.service.clock.setOffset(30 * DAY_MS - age - 10 * SECOND_MS)
      assert.deepEqual(idsOf(await list(seeded)), [id])
      assert.deepEqual(idsOf(await list(seeded, { order: 'asc', created_after: '1970-01-01T00:00:00Z' })), [id])
      assert.equal((await given.call({ path, key: seeded.key })).status, 200)
      given.service.clock.setOffset(30 * DAY_MS + SECOND_MS)
      for (const query of [{}, { order: 'asc' }, { created_after: '1970-01-01T00:00:00Z' }]) {
        assert.deepEqual(await list(seeded, query), { events: [], next_cursor: null })
      }
      expectError(await given.call({ path, key: seeded.key }), MISSING)
    })
  })

  describe('pages', () => {
    const COUNT = 250
    let seeded: Seed
    let made: readonly string[]
    before(async () => {
      seeded = await seed(given.context, { plan: 'scale' })
      const ids: string[] = []
      for (let index = 0; index < COUNT; index += 1) {
        // Groups of five events have the same time, so a page may end between events of the same time.
        const event = { age: 3_600 * SECOND_MS + Math.floor(index / 5), type: typeAt(index) }
        ids.push((await insert(seeded, event)).id)
      }
      made = ids.toSorted()
    })

    for (const order of ['asc', 'desc'] as const) {
      test(`${order}: 250 events are listed without gaps or duplicates, while new ones are added`, async () => {
        const read: string[] = []
        const added: string[] = []
        let cursor: string | null = null
        do {
          const page = await list(seeded, { order, limit: 37, ...(cursor === null ? {} : { cursor }) })
          assert.ok(page.next_cursor === null || page.events.length === 37)
          read.push(...idsOf(page))
          cursor = page.next_cursor
          added.push((await insert(seeded, { age: 0 })).id)
          given.service.clock.setOffset(added.length * 40 * SECOND_MS)
        } while (cursor !== null)
        await readRows(given.context.db, 'delete from events where id = any ($1)', [added])
        // The last of the added events was inserted after the last page had been read.
        assert.deepEqual(read, order === 'asc' ? [...made, ...added.slice(0, -1)] : made.toReversed())
      })

      test(`${order}: a page with exactly the remaining events is the last one, and after a page of one event there are more`, async () => {
        const whole = await list(seeded, { order, limit: 50, type: 'payment.created,permission.revoked' })
        assert.equal(whole.events.length, 50)
        const rest = await list(seeded, {
          order,
          limit: 100,
          type: 'payment.created,permission.revoked',
          cursor: String(whole.next_cursor),
        })
        const exact = await list(seeded, {
          order,
          limit: rest.events.length,
          type: 'payment.created,permission.revoked',
          cursor: String(whole.next_cursor),
        })
        assert.deepEqual([exact.events, exact.next_cursor], [rest.events, null])
        const one = await list(seeded, { order, limit: 1 })
        assert.deepEqual([idsOf(one), one.next_cursor], [[order === 'asc' ? made[0] : made.at(-1)], one.events[0]?.id])
      })
    }

    test('by default, a page has 50 events, the newest first', async () => {
      const page = await list(seeded)
      assert.deepEqual(idsOf(page), made.toReversed().slice(0, 50))
      assert.equal(page.next_cursor, made.at(-50))
      assert.equal((await list(seeded, { limit: 100 })).events.length, 100)
    })

    test('the id of any event is a cursor, so a reader can continue after a pause', async () => {
      const read = await list(seeded, { order: 'asc', cursor: String(made.at(-3)) })
      assert.deepEqual([idsOf(read), read.next_cursor], [made.slice(-2), null])
      assert.deepEqual(idsOf(await list(seeded, { order: 'asc', cursor: String(made.at(-1)) })), [])
    })

    for (const types of [['permission.revoked'], ['payment.created', 'inbound.received'], EVENT_TYPES]) {
      test(`type=${types.join(',')} lists only these`, async () => {
        const all = await list(seeded, { limit: 100 })
        const page = await list(seeded, { limit: 100, type: types.join(',') })
        assert.deepEqual(new Set(page.events.map(({ type }) => type)), new Set(types))
        const newest = all.events.filter(({ type }) => (types as readonly string[]).includes(type)).map(({ id }) => id)
        assert.deepEqual(idsOf(page).slice(0, newest.length), newest)
      })
    }

    test('the list includes events from the first time until before the second one, in any time zone', async () => {
      const all: WireEvent[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page: Page = await list(seeded, { limit: 100, ...(cursor === undefined ? {} : { cursor }) })
        all.push(...page.events)
        cursor = page.next_cursor
      }
      const [late = '', early = ''] = [all[20]?.created_at, all[80]?.created_at]
      assert.notEqual(early, late)
      const expected = all.filter(({ created_at: at }) => at >= early && at < late).map(({ id }) => id)
      assert.ok(expected.length > 40)
      const inIndia = new Date(Date.parse(late) + 5.5 * 3_600 * SECOND_MS).toISOString().replace('Z', '+05:30')
      for (const order of ['asc', 'desc']) {
        const page = await list(seeded, { order, limit: 100, created_after: early, created_before: inIndia })
        assert.deepEqual(idsOf(page), order === 'asc' ? expected.toReversed() : expected)
      }
      assert.deepEqual(idsOf(await list(seeded, { created_after: late, created_before: early })), [])
      assert.deepEqual(idsOf(await list(seeded, { created_before: '0001-01-01T00:00:00Z' })), [])
      assert.deepEqual(idsOf(await list(seeded, { created_after: '9999-12-31T23:59:59.999Z' })), [])
    })
  })

  test('asc lists an event once it is 30 seconds old, so that a late commit is not behind the reader’s cursor', async () => {
    const seeded = await seed(given.context)
    const older = await insert(seeded, { age: 40 * SECOND_MS })
    const young = await insert(seeded, { age: 2 * SECOND_MS })
    assert.deepEqual(idsOf(await list(seeded)), [young.id, older.id])
    const page = await list(seeded, { order: 'asc' })
    assert.deepEqual([idsOf(page), page.next_cursor], [[older.id], null])
    const late = await insert(seeded, { age: 10 * SECOND_MS })
    given.service.clock.setOffset(31 * SECOND_MS)
    assert.deepEqual(idsOf(await list(seeded, { order: 'asc', cursor: older.id })), [late.id, young.id])
  })

  test('a webhook’s test event is found by its id and by its type, and is in no other list', async () => {
    const seeded = await seed(given.context)
    const { id } = await insert(seeded, { type: 'webhook.test' })
    assert.deepEqual(idsOf(await list(seeded)), [])
    assert.deepEqual(idsOf(await list(seeded, { type: 'webhook.test' })), [id])
    assert.equal((await given.call({ path: `/v1/events/${id}`, key: seeded.key })).status, 200)
  })

  describe('an invalid parameter', () => {
    let seeded: Seed
    before(async () => {
      seeded = await seed(given.context)
    })

    const bad: readonly (readonly [string, readonly string[]])[] = [
      ['cursor', ['', 'x', 'evt_', 'pay_01J00000000000000000000000', 'evt_01j00000000000000000000000', '%00', '1']],
      ['limit', ['', '0', '-1', '101', '1000', '1.5', '1e1', '0x10', '+5', '05', ' 5', 'all', 'null', '٣']],
      [
        'type',
        ['', 'payment', 'payment.*', 'payment.created,', ',', 'payment.created, payment.failed', 'Payment.Created'],
      ],
      ['created_after', ['', 'yesterday', '2026-01-01', '2026-01-01T00:00:00', '1767225600', '2026-13-01T00:00:00Z']],
      ['created_before', ['', '2026-01-01 00:00:00Z', '2026-01-01T25:00:00Z', '+002026-01-01T00:00:00Z', 'null']],
      ['order', ['', 'ASC', 'newest', 'asc,desc']],
    ]
    for (const [name, values] of bad) {
      test(`${name} is 400 and is named in the error`, async () => {
        const key = await given.issueKey(seeded)
        const good = name === 'limit' ? '5' : 'x'
        const encoded = values.map((value) => (value.startsWith('%') ? value : encodeURIComponent(value)))
        const queries = [...encoded.map((value) => `${name}=${value}`), `${name}=${good}&${name}=${good}`]
        for (const query of queries) {
          const error = expectError(await given.call({ path: `/v1/events?${query}`, key }), INVALID)
          assert.deepEqual(pathsOf(error.details), [name], query)
          assert.ok(error.message.startsWith(`\`${name}\` must be `), error.message)
        }
      })
    }

    test('is named together with all others, and unknown parameters are ignored (D4)', async () => {
      const path = '/v1/events?order=up&limit=0&type=x&cursor=y&created_after=z&created_before=&page=2'
      const error = expectError(await given.call({ path, key: seeded.key }), INVALID)
      const names = ['created_after', 'created_before', 'cursor', 'limit', 'order', 'type']
      assert.deepEqual(pathsOf(error.details).toSorted(), names)
      const odd = await given.call({ path: '/v1/events?page=2&__proto__[limit]=0&constructor=x', key: seeded.key })
      assert.equal(odd.status, 200)
    })
  })

  test('any scope allows reading events, and a token reads only its own workspace and mode (specification, part 5)', async () => {
    for (const scope of ['wallet:read', 'wallet:transfer', 'x402:pay'] as const) {
      const { tokens, membership } = await seedTokens(given.context, { scopes: [scope] })
      const key = tokens.accessToken
      const seen = await insert({ workspace: membership.workspace, mode: 'test' })
      await insert({ workspace: membership.workspace, mode: 'live' })
      const answer = await given.call({ path: '/v1/events', key })
      assert.deepEqual(idsOf(readBody<Page>(answer, 200)), [seen.id])
      assert.equal((await given.call({ path: `/v1/events/${seen.id}`, key })).status, 200)
    }
    for (const path of ['/v1/events', '/v1/events/evt_x', '/v1/events?limit=0']) {
      expectError(await given.call({ path }), { type: 'unauthenticated' })
    }
  })

  test('reading events counts against the limit "default", whatever the parameters', async () => {
    const seeded = await seed(given.context)
    const { id } = await insert(seeded)
    const paths = ['/v1/events', `/v1/events/${id}`, '/v1/events?limit=0', '/v1/events/evt_x']
    const answers: Answer[] = []
    for (let index = 0; index < 60; index += 1) {
      answers.push(await given.call({ path: String(paths[index % paths.length]), key: seeded.key }))
    }
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 400, 404]))
    assert.equal(answers.at(-1)?.headers['x-ratelimit-remaining'], '0')
    assert.equal(answers.at(-1)?.headers['x-ratelimit-limit'], '60')
    const limited = { type: 'rate_limited', code: 'rate_limit_exceeded' } as const
    for (const path of paths) expectError(await given.call({ path, key: seeded.key }), limited)
  })

  /** Lists events with a new key for each request, so that the rate limit does not interfere. */
  async function list(
    seeded: Seed,
    query: Readonly<Record<string, string | number>> = {},
    mode = seeded.mode,
  ): Promise<Page> {
    const key = await given.issueKey(seeded, mode)
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) search.set(name, String(value))
    return readBody<Page>(await given.call({ path: `/v1/events?${search.toString()}`, key }), 200)
  }

  async function insert(
    { workspace, mode }: Pick<Seed, 'workspace' | 'mode'>,
    { age = 30 * SECOND_MS, type = 'payment.confirmed', data }: Given = {},
  ): Promise<DomainEvent> {
    const createdAt = new Date(given.service.clock.now().getTime() - age)
    const made = data ?? eventData(type, createdAt)
    const event = { workspaceId: workspace.id, id: createId('event', createdAt), mode, type, createdAt, data: made }
    await given.context.db.write(insertEvents([event]))
    return event
  }
})

function typeAt(index: number): EventType {
  return EVENT_TYPES[index % EVENT_TYPES.length] ?? 'payment.created'
}

function reversed(subject: object): object {
  return Object.fromEntries(Object.entries(subject).toReversed())
}

function idsOf(page: Page): string[] {
  return page.events.map(({ id }) => id)
}

function pathsOf(details: unknown): string[] {
  return (details as { path: string }[]).map(({ path }) => path)
}
