import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Connection } from '../../server/src/console/contract/connections.ts'
import type { Deposit, DepositPage } from '../../server/src/console/contract/wallets.ts'
import type { EventDetail, EventPage } from '../../server/src/console/contract/events.ts'
import type { DepositCursor } from '../../server/src/domain/deposits/deposit.ts'
import { cursorMove, recordDeposits } from '../../server/src/domain/deposits/record-deposits.ts'
import { insertCursor } from '../../server/src/domain/deposits/deposits-store.ts'
import { EVENT_RETENTION_MS } from '../../server/src/domain/events/event.ts'
import { getMembership } from '../../server/src/domain/members/queries.ts'
import type { Address } from '../../server/src/values/address.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import { isAlive, seedTokens } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { announce, announceMany } from '../support/context/delivery-rows.ts'
import { makeTxHash } from '../support/context/deposit-rows.ts'
import { expectError } from '../support/http-client.ts'
import { later } from '../support/context/moved-clock.ts'
import { RECIPIENT, seedWallet } from '../support/context/seed.ts'
import { seedEndpoint } from '../support/context/webhook-rows.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'

const NO_EVENT = { type: 'not_found', code: 'event_not_found' } as const
const PAGE = 50
const EVENT = 'evt_01J00000000000000000000000'
const DEPOSIT = 'dep_01J00000000000000000000000'
const CURSOR: DepositCursor = { blockNumber: 1n, blockHash: `0x${'1'.repeat(64)}` }

describe('deposits, events and connections in the dashboard', () => {
  let server: ConsoleServer
  let fixture: ConsoleFixture
  /**
   * The number of deposits recorded so far. Deposits are recorded one millisecond apart, because ids of the same
   * millisecond are in random order.
   */
  let recorded = 0
  before(async () => {
    server = await openConsoleServer()
    for (const mode of ['test', 'live'] as const) await server.context.db.write(insertCursor(mode, CURSOR))
  })
  beforeEach(async () => {
    fixture = await openConsoleFixture(server)
  })
  after(() => server.close())

  describe('deposits', () => {
    test('are listed as events report them, the newest first, for one mode', async () => {
      const wallet = await seedWallet(server.context, { workspace: fixture.workspace, mode: 'test' })
      const live = await seedWallet(server.context, { workspace: fixture.workspace, mode: 'live' })
      const [first] = await record([wallet])
      const [second] = await record([wallet])
      await record([live], 'live')
      const { deposits, next } = await readDeposits()
      assert.deepEqual(
        deposits.map(({ id }) => id),
        [second, first],
      )
      assert.equal(next, null)
      const [{ tx_hash: hash, created_at: createdAt, ...rest } = {} as Deposit] = deposits
      assert.match(hash, /^0x[0-9a-f]{64}$/)
      assert.ok(!Number.isNaN(Date.parse(createdAt)))
      assert.deepEqual(rest, { id: second, wallet, from: RECIPIENT, amount_usdc: '1.5', block_number: 7 })
      assert.equal((await readDeposits('', 'live')).deposits.length, 1)
    })

    test('can be filtered by wallet, and are only of this workspace', async () => {
      const [one, other] = [await newWallet(), await newWallet()]
      const [first, , third] = await record([one, other, one])
      const { deposits } = await readDeposits(`wallet=${one.toLowerCase()}`)
      assert.deepEqual(
        deposits.map(({ id }) => id),
        [third, first],
      )
      const neighbour = await openConsoleFixture(server)
      assert.deepEqual(await readDeposits('', 'test', neighbour), { deposits: [], next: null })
      assert.deepEqual(await readDeposits(`wallet=${one}`, 'test', neighbour), { deposits: [], next: null })
    })

    test('have pages without gaps and duplicates, for all wallets and for one', async () => {
      const [one, other] = [await newWallet(), await newWallet()]
      const ids = await record(Array.from({ length: PAGE * 2 + 7 }, (_, index) => (index % 3 === 0 ? other : one)))
      for (const [query, expected] of [
        ['', ids],
        [`wallet=${one}`, ids.filter((_, index) => index % 3 !== 0)],
      ] as const) {
        const seen: string[] = []
        const sizes: number[] = []
        for (let before: string | null = ''; before !== null;) {
          const page: DepositPage = await readDeposits(`${query}${before === '' ? '' : `&before=${before}`}`)
          seen.push(...page.deposits.map(({ id }) => id))
          sizes.push(page.deposits.length)
          before = page.next
        }
        assert.deepEqual(seen, expected.toReversed())
        assert.ok(sizes.slice(0, -1).every((size) => size === PAGE))
      }
    })

    for (const [member, value] of [
      ['mode', 'prod'],
      ['wallet', 'x'],
      ['wallet', ''],
      ['before', 'x'],
      ['before', EVENT],
    ] as const) {
      test(`${member}=${value} is 400 and is named in the error`, () => expectNamed('deposits', member, value))
    }

    function newWallet(): Promise<Address> {
      return seedWallet(server.context, { workspace: fixture.workspace, mode: 'test' })
    }

    /** Records one deposit to each of the wallets, in this order. Returns the deposits' ids. */
    async function record(wallets: readonly Address[], mode: 'test' | 'live' = 'test'): Promise<string[]> {
      const { usdc: contract } = server.context.chains[mode]
      const ids: string[] = []
      for (const to of wallets) {
        const transfer = { txHash: makeTxHash(), from: RECIPIENT, to, amountMicro: microUsdc(1_500_000n), contract }
        const transfers = [{ ...transfer, blockNumber: 7n, blockHash: CURSOR.blockHash, logIndex: 0n }]
        const progress = cursorMove(mode, { from: CURSOR, to: CURSOR })
        const ctx = later(server.context, (recorded += 1))
        ids.push(...((await recordDeposits(ctx, { mode, transfers, progress })) ?? []).map(({ id }) => id))
      }
      return ids.toSorted()
    }
  })

  describe('events', () => {
    test('are listed as receivers get them, the newest first', async () => {
      // The events have different times, because ids of the same millisecond are in random order.
      const first = await announce(later(server.context, -1), fixture.workspace)
      const second = await announce(server.context, fixture.workspace, { type: 'payment.failed' })
      await announce(server.context, fixture.workspace, { mode: 'live' })
      const { events, next } = await readEvents()
      assert.deepEqual(
        events.map(({ id, type }) => [id, type]),
        [
          [second.id, 'payment.failed'],
          [first.id, 'payment.confirmed'],
        ],
      )
      assert.equal(next, null)
      assert.deepEqual(events[1], {
        ...{ id: first.id, type: first.type, created_at: first.createdAt.toISOString(), mode: 'test' },
        ...{ account_slug: fixture.workspace.slug, data: first.data },
      })
      assert.deepEqual(
        (await readEvents('type=payment.failed')).events.map(({ id }) => id),
        [second.id],
      )
      assert.equal((await readEvents('', await openConsoleFixture(server))).events.length, 0)
    })

    test('have pages without gaps and duplicates', async () => {
      const from = new Date(server.clock.now().getTime() - 1_000_000)
      await announceMany(server.context, fixture.workspace, { count: PAGE + 3, from })
      const page = await readEvents()
      assert.equal(page.events.length, PAGE)
      const rest = await readEvents(`before=${page.next}`)
      assert.equal(rest.events.length, 3)
      assert.equal(rest.next, null)
      assert.equal(new Set([...page.events, ...rest.events].map(({ id }) => id)).size, PAGE + 3)
    })

    test('each one has the body that is sent, byte for byte, and its deliveries', async () => {
      const endpoint = await seedEndpoint(server.context, fixture)
      const event = await announce(server.context, fixture.workspace)
      const detail = await fixture.browser.ask<EventDetail>('GET', `${fixture.at(`events/${event.id}`)}?mode=test`)
      assert.ok(detail.body.endsWith(`"data":${JSON.stringify(event.data)}}`))
      assert.deepEqual(JSON.parse(detail.body), detail.event)
      assert.deepEqual(
        detail.deliveries.map(({ webhook_id: webhook, event_id: of, status }) => [webhook, of, status]),
        [[endpoint.id, event.id, 'pending']],
      )
    })

    test('of another workspace or mode, older than 30 days, or with an unknown id, are not found', async () => {
      const event = await announce(server.context, fixture.workspace)
      const old = new Date(server.clock.now().getTime() - EVENT_RETENTION_MS - 1_000)
      const gone = await announce(server.context, fixture.workspace, { createdAt: old })
      const other = await openConsoleFixture(server)
      await other.browser.refuse('GET', `${other.at(`events/${event.id}`)}?mode=test`, NO_EVENT)
      await fixture.browser.refuse('GET', `${fixture.at(`events/${event.id}`)}?mode=live`, NO_EVENT)
      for (const id of [gone.id, EVENT, 'x', '%00']) {
        await fixture.browser.refuse('GET', `${fixture.at(`events/${id}`)}?mode=test`, NO_EVENT)
      }
      const withoutMode = await fixture.browser.call('GET', fixture.at(`events/${event.id}`))
      assert.equal(expectError(withoutMode, { type: 'validation_failed' }).message, '`mode` is required.')
    })

    for (const [member, value] of [
      ['mode', 'prod'],
      ['type', 'payment.lost'],
      ['before', 'x'],
      ['before', DEPOSIT],
    ] as const) {
      test(`${member}=${value} is 400 and is named in the error`, () => expectNamed('events', member, value))
    }
  })

  describe('connections', () => {
    test('show when they were last used, and can be filtered by mode', async () => {
      const { slug } = fixture.workspace
      const membership = await getMembership(server.context, { userId: fixture.userId, slug, right: 'manageOwners' })
      const used = await seedTokens(server.context, { membership })
      await seedTokens(server.context, { membership, mode: 'live' })
      const list = async (query: string) => {
        const { connections } = await fixture.browser.ask<{ connections: Connection[] }>('GET', fixture.at(query))
        return connections.map(({ mode, last_used_at: lastUsedAt }) => [mode, lastUsedAt])
      }
      assert.deepEqual(await list('connections'), [
        ['live', null],
        ['test', null],
      ])
      const from = server.clock.now().toISOString()
      assert.ok(await isAlive(server.context, used.tokens.accessToken))
      const [[mode, lastUsedAt] = [], ...others] = await list('connections?mode=test')
      assert.deepEqual([mode, others], ['test', []])
      assert.ok(String(lastUsedAt) >= from && String(lastUsedAt) <= server.clock.now().toISOString())
      assert.deepEqual(await list('connections?mode=live'), [['live', null]])
    })

    test('mode=prod is 400 and is named in the error', () => expectNamed('connections', 'mode', 'prod'))
  })

  async function expectNamed(path: string, member: string, value: string): Promise<void> {
    const query = member === 'mode' ? `mode=${value}` : `mode=test&${member}=${value}`
    const answer = await fixture.browser.call('GET', `${fixture.at(path)}?${query}`)
    const code = member === 'wallet' && value !== '' ? ({ code: 'address_invalid' } as const) : {}
    const details = expectError(answer, { type: 'validation_failed', ...code }).details as { path: string }[]
    assert.equal(details[0]?.path, member)
  }

  function readDeposits(query = '', mode = 'test', from: ConsoleFixture = fixture): Promise<DepositPage> {
    return from.browser.ask<DepositPage>('GET', `${from.at('deposits')}?mode=${mode}&${query}`)
  }

  function readEvents(query = '', from: ConsoleFixture = fixture): Promise<EventPage> {
    return from.browser.ask<EventPage>('GET', `${from.at('events')}?mode=test&${query}`)
  }
})
