import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedManyPayments, seedPayment } from '../../../../../test/support/context/payment-rows.ts'
import { seed, type Seed } from '../../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import type { Query } from '../../../db/query.ts'
import type { Context } from '../../context.ts'
import type { PaymentFilter } from './payment-filter.ts'
import { walkPayments } from './walk-payments.ts'

const COUNT = 1_200
const LIMITS = { paymentsMax: 100_000, rowsMax: 1_000_000, scanRowsMax: 20_000 }

describe('a walk through payments', () => {
  let given: TestContext
  let seeded: Seed
  /** The ids of all payments, oldest first. */
  let ids: string[]
  before(async () => {
    given = await openTestContext()
    seeded = await seed(given.context)
    ids = await seedManyPayments(given.context, seeded, { count: COUNT, before: given.clock.now() })
  })
  after(() => given.close())

  test('a walk returns every payment once, newest first, 500 per page', async () => {
    const pages = await walk({})
    assert.deepEqual(
      pages.map(({ length }) => length),
      [500, 500, 200],
    )
    assert.deepEqual(pages.flat(), ids.toReversed())
  })

  test('if few payments match, no page is empty, and the walk ends', async () => {
    const limits = { ...LIMITS, scanRowsMax: 100 }
    const pages = await walk({ search: 'number 7' }, limits)
    const expected = ids.filter((_id, index) => String(index + 1).startsWith('7')).toReversed()
    assert.deepEqual(pages.flat(), expected)
    assert.ok(pages.every(({ length }) => length > 0))
    assert.deepEqual(await walk({ search: 'nothing' }, limits), [])
    assert.deepEqual(await walk({ agentId: 'nobody' }, limits), [])
  })

  test('the maximum number of payments is allowed, and one more is refused', async () => {
    const limits = { ...LIMITS, scanRowsMax: 100 }
    assert.equal((await walk({}, { ...limits, paymentsMax: COUNT })).flat().length, COUNT)
    const message = 'More than 1,199 payments match. Choose a shorter time range.'
    for (const filter of [{}, { agentId: seeded.agentId }]) {
      await refuse(walk(filter, { ...limits, paymentsMax: COUNT - 1 }), message)
    }
  })

  test('a walk that would read too many rows is refused, even if few match', async () => {
    const limits = { ...LIMITS, scanRowsMax: 100, rowsMax: 1_000 }
    const message = 'More than 1,000 payments would have to be read. Choose a shorter time range.'
    await refuse(walk({ search: 'nothing' }, limits), message)
    assert.deepEqual(await walk({ search: ids[3] ?? '' }, limits), [[ids[3]]])
  })

  test('a search text is looked up once', async () => {
    const other = await seed(given.context)
    await seedManyPayments(given.context, other, { count: 600, before: given.clock.now() })
    await seedPayment(given.context, other, { idempotencyKey: 'k', memo: 'number' })
    const names: string[] = []
    const db = new Proxy(given.context.db, {
      get: (target, member) => {
        const verb = Reflect.get(target, member) as (query: Query<unknown>) => unknown
        return (query: Query<unknown>) => {
          names.push(query.name)
          return verb.call(target, query)
        }
      },
    })
    const pages = await walkAll({ db, clock: given.context.clock }, other, { search: 'number' }, LIMITS)
    assert.equal(pages.flat().length, 601)
    const list = 'list_payments_all_newest_test'
    assert.deepEqual(names, ['find_payment_by_key', 'list_recipients', 'count_payments_all_test', list, list])
  })

  test('an abort during the count ends the walk', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    const request = { workspaceId: seeded.workspace.id, mode: seeded.mode, filter: {}, signal }
    await assert.rejects(walkPayments(given.context, request), /enough/)
  })

  test('an abort after the count ends the walk before the next page', async () => {
    const ending = new AbortController()
    const request = { workspaceId: seeded.workspace.id, mode: seeded.mode, filter: {}, signal: ending.signal }
    const found = await walkPayments(given.context, request)
    assert.equal((await found.next())?.length, 500)
    ending.abort(new Error('enough'))
    await assert.rejects(found.next(), /enough/)
  })

  function walk(filter: PaymentFilter, limits = LIMITS): Promise<string[][]> {
    return walkAll(given.context, seeded, filter, limits)
  }
})

async function walkAll(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspace, mode }: Seed,
  filter: PaymentFilter,
  limits: typeof LIMITS,
): Promise<string[][]> {
  const { signal } = new AbortController()
  const found = await walkPayments(ctx, { workspaceId: workspace.id, mode, filter, signal, limits })
  const pages: string[][] = []
  for (let page = await found.next(); page !== null; page = await found.next()) pages.push(page.map(({ id }) => id))
  return pages
}

async function refuse(walk: Promise<unknown>, message: string): Promise<void> {
  await assert.rejects(walk, { type: 'validation_failed', details: [{ path: 'from', message }] })
}
