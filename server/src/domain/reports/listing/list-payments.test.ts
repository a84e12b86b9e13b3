import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../audit/audit-entry.ts'
import { frozenAt } from '../../../../../test/support/context/moved-clock.ts'
import { seedManyPayments, seedPayment } from '../../../../../test/support/context/payment-rows.ts'
import {
  address,
  agent,
  RECIPIENT,
  seed,
  seedGrant,
  seedWallet,
  type Seed,
} from '../../../../../test/support/context/seed.ts'
import { seedPurchase } from '../../../../../test/support/context/purchase-rows.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import { createAgent } from '../../agents/create-agent.ts'
import type { Context } from '../../context.ts'
import type { Payment } from '../../payments/payment.ts'
import { SCAN_ROWS_MAX } from '../../../db/bounded-scan.ts'
import { listPayments } from './list-payments.ts'
import { labelRecipient } from '../../recipients/label-recipient.ts'
import { microUsdc, parseAmount } from '../../../values/money.ts'
import type { PaymentFilter } from './payment-filter.ts'
import type { PaymentSort } from './payment-order.ts'
import { countPayments } from './count-payments.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')
const OTHER = address('0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC')
const HASH = `0x${'ab'.repeat(32)}` as const

describe('the list of payments', () => {
  let given: TestContext
  let ctx: Context
  let seeded: Seed
  let second: Seed
  let live: Payment
  /** All payments that were made, by the names that the tests use for them. */
  let made: Readonly<Record<string, Payment>>

  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
    seeded = await seed(ctx)
    const place = { ...seeded, agentId: agent('second'), wallet: await seedWallet(ctx, seeded) }
    await createAgent(ctx, { workspaceId: seeded.workspace.id, mode: 'test', id: place.agentId, actor: OPERATOR })
    second = { ...place, grant: await seedGrant(ctx, place) }
    const liveSeed = { ...seeded, mode: 'live' as const, wallet: await seedWallet(ctx, { ...seeded, mode: 'live' }) }
    await createAgent(ctx, { workspaceId: seeded.workspace.id, mode: 'live', id: seeded.agentId, actor: OPERATOR })
    const others = await seed(ctx)
    const rows: [string, Seed, Parameters<typeof seedPayment>[2]][] = [
      ['oldest', seeded, { at: at(-9), status: 'confirmed', memo: 'Lunch 100%', amountUsdc: '77.89' }],
      ['failed', seeded, { at: at(-8), status: 'failed', memo: 'lunch 100 of_all', amountUsdc: '5' }],
      ['keyed', seeded, { at: at(-7), idempotencyKey: 'order 7', memo: 'x' }],
      ['hashed', second, { at: at(-6), txHash: HASH, memo: 'order 7, again' }],
      ['elsewhere', second, { at: at(-5), to: OTHER, memo: String.raw`back\slash`, amountUsdc: '100' }],
      ['newest', seeded, { at: at(-4), memo: 'drei ÄPFEL', amountUsdc: '100.000001' }],
    ]
    const entries: [string, Payment][] = []
    for (const [name, of, changes] of rows) entries.push([name, await seedPayment(ctx, of, changes)])
    made = Object.fromEntries(entries)
    live = await seedPayment(ctx, { ...liveSeed, grant: await seedGrant(ctx, liveSeed) }, { at: at(-3) })
    await seedPayment(ctx, others, { at: at(-2), memo: 'lunch 100%' })
    const by = { workspaceId: seeded.workspace.id, actor: OPERATOR }
    await labelRecipient(ctx, { ...by, mode: 'test', address: OTHER, label: 'Café Zürich' })
    await labelRecipient(ctx, { ...by, mode: 'live', address: RECIPIENT, label: 'Zürich of the other mode' })
  })
  after(() => given.close())

  const everything = ['newest', 'elsewhere', 'hashed', 'keyed', 'failed', 'oldest']
  const cases: readonly (readonly [name: string, filter: () => PaymentFilter, expected: readonly string[]])[] = [
    ['without a filter: all of the mode, the newest first', () => ({}), everything],
    ['of an agent', () => ({ agentId: second.agentId }), ['elsewhere', 'hashed']],
    ['of an agent that there is not', () => ({ agentId: 'nobody' }), []],
    ['from a wallet', () => ({ wallet: second.wallet }), ['elsewhere', 'hashed']],
    ['of a status', () => ({ status: 'failed' }), ['failed']],
    ['from a time on', () => ({ from: at(-5) }), ['newest', 'elsewhere']],
    ['up to a time, without it', () => ({ to: at(-8) }), ['oldest']],
    ['of a span', () => ({ from: at(-8), to: at(-6) }), ['keyed', 'failed']],
    ['of a span that is none', () => ({ from: at(-4), to: at(-6) }), []],
    ['by an id', () => ({ search: made['keyed']?.id ?? '' }), ['keyed']],
    ['by an id of the other mode', () => ({ search: live.id }), []],
    ['by an id that another filter leaves out', () => ({ search: made['keyed']?.id ?? '', status: 'failed' }), []],
    ['by an id that was made too early', () => ({ search: made['keyed']?.id ?? '', from: at(-6) }), []],
    ['by an id that was made too late', () => ({ search: made['keyed']?.id ?? '', to: at(-7) }), []],
    ['by a hash, in any case', () => ({ search: HASH.toUpperCase().replace('X', 'x') }), ['hashed']],
    ['by whom it was paid to', () => ({ search: OTHER.toLowerCase() }), ['elsewhere']],
    ['by what it was paid from', () => ({ search: second.wallet }), ['elsewhere', 'hashed']],
    ['by an address whose checksum is wrong', () => ({ search: `0x3c${OTHER.slice(4)}` }), ['elsewhere']],
    ['by an idempotency key, and not by memos then', () => ({ search: 'order 7' }), ['keyed']],
    ['by a part of a memo, in any case', () => ({ search: 'LUNCH' }), ['failed', 'oldest']],
    ['by a part of a memo, without regard to accents', () => ({ search: 'apfel' }), ['newest']],
    ['by the name of a recipient, in any case', () => ({ search: 'ZÜRICH' }), ['elsewhere']],
    ['by the name of a recipient, without accents', () => ({ search: 'cafe zu' }), ['elsewhere']],
    ['by the id of an agent', () => ({ search: 'SECOND' }), ['elsewhere', 'hashed']],
    ['by an amount', () => ({ search: '77.89' }), ['oldest']],
    ['by an amount that is also a part of memos', () => ({ search: '100' }), ['elsewhere', 'failed', 'oldest']],
    ['by more than an amount', () => ({ search: '>100' }), ['newest']],
    ['by an amount or more', () => ({ search: '>=100' }), ['newest', 'elsewhere']],
    ['by at most an amount', () => ({ search: '<=5' }), ['hashed', 'keyed', 'failed']],
    ['by a range of amounts', () => ({ search: '5..77.89' }), ['failed', 'oldest']],
    [
      'by a range of amounts within another one',
      () => ({ search: '5..100', minMicro: usdc('50') }),
      ['elsewhere', 'oldest'],
    ],
    [
      'by the lowest and highest amount',
      () => ({ minMicro: usdc('5'), maxMicro: usdc('77.89') }),
      ['failed', 'oldest'],
    ],
    ['by a shortened address', () => ({ search: shorten(OTHER) }), ['elsewhere']],
    ['by the first characters of an address', () => ({ search: OTHER.slice(0, 10).toLowerCase() }), ['elsewhere']],
    ['by the last characters of an address', () => ({ search: `…${OTHER.slice(-4)}` }), ['elsewhere']],
    ['by a shortened address of a wallet', () => ({ search: shorten(second.wallet) }), ['elsewhere', 'hashed']],
    ['by a shortened hash', () => ({ search: shorten(HASH) }), ['hashed']],
    ['by the first characters of a hash', () => ({ search: '0xABABAB' }), ['hashed']],
    ['by the first characters of another hash', () => ({ search: '0xababac' }), []],
    ['to a recipient', () => ({ recipient: OTHER }), ['elsewhere']],
    ['to a recipient, of a status', () => ({ recipient: RECIPIENT, status: 'failed' }), ['failed']],
    ['that failed for a reason', () => ({ failureCode: 'reverted' }), ['failed']],
    ['that failed for another reason', () => ({ failureCode: 'replaced' }), []],
    ['by a memo with a percent sign', () => ({ search: '100%' }), ['oldest']],
    ['by a memo with an underscore', () => ({ search: '_' }), ['failed']],
    ['by a memo with a backslash', () => ({ search: '\\' }), ['elsewhere']],
    ['by several things', () => ({ search: 'lunch', status: 'confirmed', agentId: seeded.agentId }), ['oldest']],
  ]
  for (const [name, filter, expected] of cases) {
    test(name, async () => {
      const { items, next } = await list(filter())
      assert.deepEqual([names(items), next], [expected, null])
    })
  }

  test('the pages of the list have no gaps and no duplicates', async () => {
    for (const filter of [{}, { agentId: seeded.agentId }, { search: 'lunch' }]) {
      const found: string[] = []
      let cursor: string | null = null
      do {
        const page: Awaited<ReturnType<typeof list>> = await list(filter, { before: cursor, limit: 1 })
        assert.ok(page.items.length <= 1)
        found.push(...names(page.items))
        cursor = page.next
      } while (cursor !== null)
      assert.deepEqual(found, names((await list(filter)).items))
    }
  })

  test('a page ends after the maximum number of rows was read, and the next one continues there', async () => {
    const first = await list({ status: 'failed' }, { scanRowsMax: 3 })
    assert.deepEqual([first.items, first.next], [[], made['hashed']?.id])
    const then = await list({ status: 'failed' }, { scanRowsMax: 3, before: first.next })
    // The scan has read its three rows, so it does not look for more rows that match.
    assert.deepEqual([names(then.items), then.next], [['failed'], made['oldest']?.id])
    const last = await list({ status: 'failed' }, { scanRowsMax: 3, before: then.next })
    assert.deepEqual([last.items, last.next], [[], null])
  })

  test('a list for one agent reads only the rows of this agent', async () => {
    const { items, next } = await list({ agentId: seeded.agentId, status: 'confirmed' }, { scanRowsMax: 4 })
    assert.deepEqual([names(items), next], [['oldest'], made['oldest']?.id])
  })

  test('an id and an idempotency key are found at once, however many rows are newer', async () => {
    for (const search of [made['keyed']?.id ?? '', 'order 7']) {
      assert.deepEqual(names((await list({ search }, { scanRowsMax: 1 })).items), ['keyed'])
    }
  })

  test(`a page reads at most ${SCAN_ROWS_MAX} rows`, async () => {
    const many = await seed(ctx)
    const ids = await seedManyPayments(ctx, many, { count: SCAN_ROWS_MAX + 5, before: NOW })
    const read = async (search: string, cursor: string | null = null) => {
      const { workspaceId, mode } = { workspaceId: many.workspace.id, mode: many.mode }
      const page = await listPayments(ctx, { workspaceId, mode, filter: { search }, before: cursor, limit: 50 })
      return { ids: page.items.map(({ id }) => id), next: page.next }
    }
    assert.deepEqual(await read('number 6'), { ids: expectedIds(ids, '6').slice(0, 50), next: nth(ids, '6', 49) })
    // The fifth-oldest payment is the first one that the scan no longer reads.
    assert.deepEqual(await read('number 5.'), { ids: [], next: ids[5] })
    assert.deepEqual(await read('number 5', ids[5] ?? null), { ids: [ids[4]], next: null })
  })

  for (const [sort, expected] of [
    ['oldest', everything.toReversed()],
    ['largest', ['newest', 'elsewhere', 'oldest', 'failed', 'hashed', 'keyed']],
    ['smallest', ['keyed', 'hashed', 'failed', 'oldest', 'elsewhere', 'newest']],
  ] as const) {
    test(`the list can be sorted, ${sort} first, and its pages have no gaps and no duplicates`, async () => {
      for (const scanRowsMax of [2, SCAN_ROWS_MAX]) {
        assert.deepEqual(await walk({}, { sort, limit: 2, scanRowsMax }), expected)
        // Few payments match, so indexes find them, or the page ends before it is full.
        const page = { sort, limit: 1, scanRowsMax }
        const of = (...wanted: string[]) => expected.filter((name) => wanted.includes(name))
        assert.deepEqual(await walk({ minMicro: usdc('0.5'), wallet: second.wallet }, page), of('elsewhere', 'hashed'))
        assert.deepEqual(
          await walk({ recipient: RECIPIENT }, page),
          expected.filter((name) => name !== 'elsewhere'),
        )
        assert.deepEqual(await walk({ from: at(-6) }, page), of('newest', 'elsewhere', 'hashed'))
      }
    })
  }

  test('what an index finds for a text is shown at once, however many rows are newer', async () => {
    const page = await list({ search: '77.89' }, { scanRowsMax: 2 })
    assert.deepEqual([names(page.items), names(page.further), page.next], [[], ['oldest'], made['elsewhere']?.id])
    const named = await list({ search: 'zurich' }, { scanRowsMax: 1 })
    assert.deepEqual([names(named.items), names(named.further)], [[], ['elsewhere']])
    // The walk through the pages finds the same payments again, in their places.
    assert.deepEqual(await walk({ search: '77.89' }, { limit: 1, scanRowsMax: 2 }), ['oldest'])
  })

  test('amounts, hashes and recipients are found without reading the list', async () => {
    for (const search of ['>77', '5..78', '0xababab', shorten(OTHER), OTHER]) {
      const { next, items } = await list({ search }, { scanRowsMax: 1 })
      assert.ok(items.length > 0 && next === null, search)
    }
  })

  test('the sums count failed payments apart', async () => {
    const sum = async (filter: PaymentFilter, limits = { rowsMax: 100, scanRowsMax: 50 }) =>
      await countPayments(ctx, { workspaceId: seeded.workspace.id, mode: 'test', filter, limits })
    const all = { confirmed: 1, confirmedMicro: usdc('77.89'), pending: 4, pendingMicro: usdc('202.000001'), failed: 1 }
    assert.deepEqual(await sum({ search: 'lunch' }), { ...all, pending: 0, pendingMicro: 0n, since: null })
    assert.deepEqual(await sum({}), { ...all, since: null })
    const few = await sum({ search: '>=5', wallet: seeded.wallet })
    assert.deepEqual([few.confirmed, few.pending, few.failed, few.since], [1, 1, 1, null])
    const newest = await sum({}, { rowsMax: 4, scanRowsMax: 2 })
    assert.deepEqual([newest.confirmed, newest.pending, newest.since], [0, 4, made['keyed']?.id])
    // What an index finds beyond these rows is part of the sums.
    const found = await sum({ search: '77.89' }, { rowsMax: 4, scanRowsMax: 2 })
    assert.deepEqual([found.confirmed, found.pending, found.since], [1, 0, made['keyed']?.id])
  })

  async function walk(
    filter: PaymentFilter,
    page: { readonly limit: number; readonly scanRowsMax: number; readonly sort?: PaymentSort },
  ): Promise<string[]> {
    const found: string[] = []
    let cursor: string | null = null
    do {
      const { items, next }: Awaited<ReturnType<typeof list>> = await list(filter, { ...page, before: cursor })
      found.push(...names(items))
      cursor = next
    } while (cursor !== null)
    return found
  }

  function list(
    filter: PaymentFilter,
    page: { before?: string | null; limit?: number; scanRowsMax?: number; sort?: PaymentSort } = {},
  ) {
    const { before: cursor = null, limit = 50, ...bound } = page
    const request = { workspaceId: seeded.workspace.id, mode: 'test', filter, before: cursor, limit } as const
    return listPayments(ctx, { ...request, ...bound })
  }

  function names(payments: readonly Payment[]): string[] {
    return payments.map(({ id }) => Object.entries(made).find(([, payment]) => payment.id === id)?.[0] ?? id)
  }
})

describe('the list of payments with purchases', () => {
  let given: TestContext
  let ctx: Context
  let seeded: Seed
  let made: Readonly<Record<string, Payment>>

  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
    seeded = await seed(ctx)
    type Options = Parameters<typeof seedPurchase>
    const buy = (minutes: number, bought: Options[2], changes: Options[3] = {}) =>
      seedPurchase(ctx, seeded, bought, { at: at(minutes), ...changes })
    const confirmed = { status: 'confirmed' } as const
    const resourceUrl = 'https://data.example:8443/a/b'
    made = {
      lost: await buy(-9, { delivery: 'failed' }, confirmed),
      silent: await buy(-8, { delivery: 'unknown' }, confirmed),
      unpaid: await buy(-7, { delivery: 'failed' }, { status: 'failed' }),
      own: await buy(-6, { delivery: null }, confirmed),
      delivered: await buy(-5, { resourceUrl }, confirmed),
      pending: await buy(-4, { delivery: 'failed' }),
      transfer: await seedPayment(ctx, seeded, { at: at(-3), ...confirmed, memo: 'via API.example' }),
      withdrawal: await seedPayment(ctx, seeded, { at: at(-2), kind: 'withdrawal', ...confirmed }),
      // The authorization of this purchase is valid for another minute.
      fresh: await buy(-1, { delivery: 'unknown' }, confirmed),
    }
  })
  after(() => given.close())

  const purchases = ['fresh', 'pending', 'delivered', 'own', 'unpaid', 'silent', 'lost']
  const cases: readonly (readonly [name: string, filter: PaymentFilter, expected: readonly string[]])[] = [
    ['transfers', { kind: 'transfer' }, ['transfer']],
    ['withdrawals', { kind: 'withdrawal' }, ['withdrawal']],
    ['purchases', { kind: 'x402' }, purchases],
    ['what was paid and not delivered', { kind: 'undelivered' }, ['silent', 'lost']],
    ['what was paid and not delivered, from a time on', { kind: 'undelivered', from: at(-8) }, ['silent']],
    [
      'a part of a host or of a memo, in any case',
      { search: 'PI.EXAMPLE' },
      ['fresh', 'transfer', 'pending', 'own', 'unpaid', 'silent', 'lost'],
    ],
    ['a host with its port', { search: 'data.example:8443' }, ['delivered']],
    ['a host without the path', { search: '/a/b' }, []],
    ['a host and a kind', { search: 'data', kind: 'x402' }, ['delivered']],
  ]
  for (const [name, filter, expected] of cases) {
    test(`the filter finds ${name}`, async () => {
      assert.deepEqual(names((await list(filter)).items), expected)
    })
  }

  test('an authorization that has just expired can no longer bring an answer', async () => {
    const expiresAt = made['fresh']?.authorization?.validBefore ?? NOW
    const before = frozenAt(ctx, new Date(expiresAt.getTime() - 1))
    assert.deepEqual(names((await list({ kind: 'undelivered' }, before)).items), ['silent', 'lost'])
    const after = frozenAt(ctx, expiresAt)
    assert.deepEqual(names((await list({ kind: 'undelivered' }, after)).items), ['fresh', 'silent', 'lost'])
  })

  test('each purchase is listed with what it buys, and everything else without', async () => {
    const { items } = await list({})
    assert.deepEqual(items.map(({ purchase }) => purchase?.host ?? null).toReversed(), [
      ...Array.from({ length: 4 }, () => 'api.example'),
      'data.example:8443',
      'api.example',
      null,
      null,
      'api.example',
    ])
    const bought = { resourceUrl: 'https://data.example:8443/a/b', host: 'data.example:8443', delivery: 'delivered' }
    const { id: paymentId } = made['delivered'] ?? assert.fail()
    const { resourceUrl, host, delivery } = items.find(({ id }) => id === paymentId)?.purchase ?? assert.fail()
    assert.deepEqual({ resourceUrl, host, delivery }, bought)
  })

  function list(filter: PaymentFilter, by: Context = ctx) {
    const { workspace, mode } = seeded
    return listPayments(by, { workspaceId: workspace.id, mode, filter, before: null, limit: 50 })
  }

  function names(payments: readonly Payment[]): string[] {
    return payments.map(({ id }) => Object.entries(made).find(([, payment]) => payment.id === id)?.[0] ?? id)
  }
})

/** Returns the ids, newest first, of those payments from `seedManyPayments` whose number starts with `start`. */
function expectedIds(ids: readonly string[], start: string): string[] {
  return ids.filter((_, index) => String(index + 1).startsWith(start)).toReversed()
}

function nth(ids: readonly string[], start: string, index: number): string | undefined {
  return expectedIds(ids, start)[index]
}

/** Shortens an address or a hash as the pages show it. */
function shorten(text: string): string {
  return `${text.slice(0, 6)}…${text.slice(-4)}`
}

function usdc(amount: string) {
  return parseAmount(amount) ?? microUsdc(0n)
}

function at(minutes: number): Date {
  return new Date(NOW.getTime() + minutes * 60_000)
}
