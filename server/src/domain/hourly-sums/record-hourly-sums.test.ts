import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { frozenAt } from '../../../../test/support/context/moved-clock.ts'
import { seedPayment } from '../../../../test/support/context/payment-rows.ts'
import { seedPurchase } from '../../../../test/support/context/purchase-rows.ts'
import { agent, seed, seedGrant, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { createId } from '../../values/ids.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { createAgent } from '../agents/create-agent.ts'
import type { Context } from '../context.ts'
import { getSpending } from '../reports/spending/get-spending.ts'
import { SPENDING_BY, type SpendingBy } from '../reports/spending/spending.ts'
import { recordHourlySums } from './record-hourly-sums.ts'

const NOW = new Date('2026-06-01T12:34:56.789Z')
const HOUR_MS = 60 * 60_000
/** The month in which `NOW` is began twelve hours ago, so this period has the days before in it. */
const LAST_DAYS = { from: '2026-05-02', to: '2026-06-01' } as const
/** Zones whose days begin at different minutes of an hour. */
const ZONES = ['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/Los_Angeles'] as const
const hoursAgo = (hours: number): Date => new Date(NOW.getTime() - hours * HOUR_MS)

describe('the sums of ended hours', () => {
  let given: TestContext
  let ctx: Context
  let seeded: Seed
  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
  })
  beforeEach(async () => {
    seeded = await seed(ctx)
  })
  after(() => given.close())

  test('a report is the same before its hours are summed and after, in every zone and by every name', async () => {
    const other = await seedAgent('other')
    for (let index = 0; index < 120; index += 1) {
      await seedPayment(ctx, index % 3 === 0 ? other : seeded, {
        // 120 times in 70 days, in all parts of an hour.
        at: hoursAgo((index * 70 * 24) / 120),
        amountUsdc: `${index + 1}.00000${index % 10}`,
        status: index % 5 === 0 ? 'failed' : 'confirmed',
        kind: index % 7 === 0 ? 'withdrawal' : 'transfer',
      })
    }
    for (let index = 0; index < 60; index += 1) {
      await buy(`host${index % 11}.example`, {
        at: hoursAgo((index * 70 * 24) / 60),
        amountUsdc: `0.0${index + 1}`,
        status: index % 6 === 0 ? 'failed' : 'confirmed',
      })
    }
    await seedPayment(ctx, seeded, { at: hoursAgo(0), amountUsdc: '3' })
    await buy('host3.example', { at: hoursAgo(0) })
    const unsummed = await readReports()
    await sumAll()
    assert.deepEqual(await readReports(), unsummed)
    assert.ok((await listSums()).length > 60)
  })

  test('a report reads a sum, and not the payments that are in it', async () => {
    await seedPayment(ctx, seeded, { at: hoursAgo(5), amountUsdc: '2', status: 'confirmed' })
    await seedPayment(ctx, seeded, { at: hoursAgo(1), amountUsdc: '0.5', status: 'confirmed' })
    await sumAll()
    await readRows(ctx.db, 'update hourly_sums set spent_micro = 7, confirmed = 3 where workspace_id = $1', [
      seeded.workspace.id,
    ])
    const { spentMicro, counts } = await read()
    assert.deepEqual([spentMicro, counts.confirmed], [500_007n, 4])
  })

  test('payments of an hour in which a day of the reader begins are read, and not their sum', async () => {
    await seedPayment(ctx, seeded, { at: new Date('2026-05-31T18:29:59Z'), amountUsdc: '2', status: 'confirmed' })
    await seedPayment(ctx, seeded, { at: new Date('2026-05-31T18:30:00Z'), amountUsdc: '3', status: 'confirmed' })
    await sumAll()
    const days = { from: '2026-05-31', to: '2026-06-01' }
    const { agents } = await getSpending(ctx, {
      ...placeOf(seeded),
      period: { name: 'custom', days, zone: 'Asia/Kolkata' },
    })
    assert.deepEqual(agents[0]?.barsMicro, [2_000_000n, 3_000_000n])
  })

  test('the sums by host are read too, and not the purchases that are in them', async () => {
    await buy('a.example', { at: hoursAgo(5), amountUsdc: '2', status: 'confirmed' })
    await buy('a.example', { at: hoursAgo(5), amountUsdc: '3', status: 'confirmed' })
    const claimed = { at: hoursAgo(5), amountUsdc: '1', status: 'confirmed' } as const
    await seedPurchase(ctx, seeded, { resourceUrl: 'https://a.example/goods', delivery: null }, claimed)
    await buy('b.example', { at: hoursAgo(1), amountUsdc: '0.5' })
    await sumAll()
    await readRows(ctx.db, 'update hourly_sums set spent_micro = spent_micro + 1 where workspace_id = $1', [
      seeded.workspace.id,
    ])
    const { rows } = await read('host')
    assert.deepEqual(
      rows.map(({ name, isClaimed, spentMicro, payments }) => [name, isClaimed, spentMicro, payments]),
      [
        ['a.example', false, 5_000_001n, 2],
        ['a.example', true, 1_000_001n, 1],
        ['b.example', false, 500_000n, 1],
      ],
    )
  })

  test('an hour with a pending payment is summed when the payment has ended, and so are the later hours', async () => {
    for (const hours of [6, 4, 3]) await seedPayment(ctx, seeded, { at: hoursAgo(hours), status: 'confirmed' })
    const pending = await seedPayment(ctx, seeded, { at: hoursAgo(4), amountUsdc: '9' })
    await buy('a.example', { at: hoursAgo(4), status: 'confirmed', amountUsdc: '5' })
    const unsummed = await readReports()
    await sumAll()
    assert.deepEqual(await listHours(), ['06:00'])
    assert.deepEqual(await readReports(), unsummed)
    const end = `update payments set status = 'failed', failure_code = 'never_received', settled_at = $1 where id = $2`
    await readRows(ctx.db, end, [NOW, pending.id])
    await sumAll()
    assert.deepEqual(await listHours(), ['06:00', '08:00', '09:00'])
    const { spentMicro, counts } = await read()
    assert.deepEqual([spentMicro, counts], [8_000_000n, { confirmed: 4, pending: 0, failed: 1, refused: 0 }])
  })

  test('an hour is summed one hour after its end', async () => {
    for (const time of ['10:59:59.999', '11:00:00.000']) {
      await seedPayment(ctx, seeded, { at: new Date(`2026-06-01T${time}Z`), status: 'confirmed' })
    }
    await sumAll(new Date('2026-06-01T11:59:59.999Z'))
    assert.deepEqual(await listHours(), [])
    await sumAll(NOW)
    assert.deepEqual(await listHours(), ['10:00'])
    await sumAll(new Date('2026-06-01T13:00:00.000Z'))
    assert.deepEqual(await listHours(), ['10:00', '11:00'])
  })

  test('a withdrawal that was inserted minutes after its id was created is summed with its id', async () => {
    const [issued, signed] = [new Date('2026-06-01T06:58:00Z'), new Date('2026-06-01T07:02:00Z')]
    const id = createId('payment', issued)
    await seedPayment(ctx, seeded, { at: new Date('2026-06-01T06:59:00Z'), status: 'confirmed' })
    const late = await seedPayment(ctx, seeded, {
      at: signed,
      status: 'confirmed',
      kind: 'withdrawal',
      amountUsdc: '4',
    })
    await readRows(ctx.db, 'update payments set id = $1 where id = $2', [id, late.id])
    await seedPayment(ctx, seeded, { at: new Date('2026-06-01T07:01:00Z'), status: 'confirmed' })
    const unsummed = await readReports()
    await sumAll()
    assert.deepEqual(
      (await listSums('agent', 'withdrawal')).map(({ hour, name }) => [hour, name]),
      [
        ['06:00', ''],
        ['06:00', seeded.agentId],
        ['07:00', seeded.agentId],
      ],
    )
    assert.deepEqual(await readReports(), unsummed)
  })

  test('processes that sum the same hour at once store it once', async () => {
    const other = await seedAgent('other')
    for (const status of ['confirmed', 'failed'] as const) {
      for (const each of [seeded, other]) await seedPayment(ctx, each, { at: hoursAgo(5), status })
    }
    for (const host of ['a.example', 'b.example']) await buy(host, { at: hoursAgo(5), status: 'confirmed' })
    assert.deepEqual((await Promise.all(Array.from({ length: 5 }, () => sumAll()))).flat(), [])
    assert.deepEqual(await sumAll(), [])
    assert.deepEqual(
      (await listSums('agent')).map(({ name, confirmed, failed }) => [name, confirmed, failed]),
      [
        [seeded.agentId, 3, 1],
        [other.agentId, 1, 1],
      ],
    )
    assert.deepEqual(
      (await listSums('host')).map(({ name, confirmed }) => [name, confirmed]),
      [
        ['a.example', 1],
        ['b.example', 1],
      ],
    )
  })

  test('older payments than 100 days are not summed, and a sum deletes those of 100 days before it', async () => {
    for (const days of [101, 99]) await buy('a.example', { at: hoursAgo(days * 24), status: 'confirmed' })
    await sumAll()
    assert.deepEqual([(await listSums('agent')).length, (await listSums('host')).length], [1, 1])
    await buy('a.example', { at: hoursAgo(-19 * 24), status: 'confirmed' })
    await sumAll(new Date(NOW.getTime() + 20 * 24 * HOUR_MS))
    assert.deepEqual([(await listSums('agent')).length, (await listSums('host')).length], [1, 1])
  })

  test('a report of days whose sums were deleted reads their payments', async () => {
    const days = { from: '2026-01-01', to: '2026-01-31' }
    await seedPayment(ctx, seeded, { at: new Date('2026-01-15T12:00:00Z'), amountUsdc: '4', status: 'confirmed' })
    await seedPayment(ctx, seeded, { at: hoursAgo(5), status: 'confirmed' })
    await sumAll()
    const { spentMicro } = await getSpending(ctx, { ...placeOf(seeded), period: { name: 'custom', days, zone: 'UTC' } })
    assert.equal(spentMicro, 4_000_000n)
  })

  test('the two modes and the other workspaces are summed separately, page by page', async () => {
    const others = [await seed(ctx), await seed(ctx)]
    for (const each of [seeded, ...others]) await seedPayment(ctx, each, { at: hoursAgo(5), status: 'confirmed' })
    await seedPayment(ctx, { ...seeded, mode: 'live' }, { at: hoursAgo(4), status: 'confirmed' })
    await sumAll(NOW, 1)
    for (const each of [seeded, ...others]) {
      assert.deepEqual(await listHours(each), each === seeded ? ['07:00', '08:00'] : ['07:00'])
      assert.equal((await read('agent', each)).spentMicro, 1_000_000n)
    }
  })

  test('if the sums of one workspace cannot be stored, those of the others are', async () => {
    const others = [await seed(ctx), await seed(ctx)]
    for (const each of [seeded, ...others]) await seedPayment(ctx, each, { at: hoursAgo(5), status: 'confirmed' })
    const fault = `alter table hourly_sums add constraint fault check (workspace_id <> '${seeded.workspace.id}')`
    await readRows(ctx.db, fault)
    const failed = await sumAll()
    await readRows(ctx.db, 'alter table hourly_sums drop constraint fault')
    assert.deepEqual(failed, [seeded.workspace.id])
    assert.deepEqual(await listHours(), [])
    for (const each of others) assert.deepEqual(await listHours(each), ['07:00'])
    assert.deepEqual(await sumAll(), [])
    assert.deepEqual(await listHours(), ['07:00'])
  })

  test('after three workspaces in a row that cannot be summed, the next page continues with the others', async () => {
    const others = [await seed(ctx), await seed(ctx), await seed(ctx)]
    const all = [seeded, ...others].map(({ workspace }) => workspace.id).toSorted()
    for (const each of [seeded, ...others]) await seedPayment(ctx, each, { at: hoursAgo(5), status: 'confirmed' })
    await readRows(ctx.db, 'alter table hourly_sums add constraint fault check (false) not valid')
    const page = await recordHourlySums(ctx, {
      mode: 'test',
      after: '',
      limit: 1_000,
      signal: new AbortController().signal,
    })
    const failed = await sumAll()
    await readRows(ctx.db, 'alter table hourly_sums drop constraint fault')
    assert.deepEqual([page.failures.length, page.next], [3, page.failures[2]?.workspaceId])
    assert.deepEqual(failed.filter((id) => all.includes(id)).toSorted(), all)
    assert.deepEqual(await sumAll(), [])
  })

  test('the sums of hours that have not ended, because the clock was ahead, are deleted and made again', async () => {
    const at = (time: string): Date => new Date(`2026-06-01T${time}Z`)
    await seedPayment(ctx, seeded, { at: at('09:30:00'), status: 'confirmed' })
    await buy('a.example', { at: at('12:10:00'), status: 'confirmed' })
    await sumAll(at('14:30:00'))
    assert.deepEqual(await listHours(), ['09:00', '12:00'])
    await seedPayment(ctx, seeded, { at: at('12:31:00'), status: 'confirmed' })
    await buy('a.example', { at: at('12:32:00'), status: 'confirmed' })
    await sumAll(at('12:40:00'))
    assert.deepEqual(await listHours(), ['09:00'])
    const corrected = await readReports()
    assert.deepEqual([corrected[0]?.spentMicro, (await read('host')).rows[0]?.payments], [4_000_000n, 2])
    await sumAll(at('14:30:00'))
    assert.deepEqual(await listHours(), ['09:00', '12:00'])
    assert.deepEqual(await readReports(), corrected)
  })

  test('a clock that is far ahead deletes no sum that is still needed', async () => {
    for (const days of [29, 0.5]) await seedPayment(ctx, seeded, { at: hoursAgo(days * 24), status: 'confirmed' })
    await sumAll()
    await seedPayment(ctx, seeded, { at: hoursAgo(-1), status: 'confirmed' })
    await sumAll(new Date(NOW.getTime() + 20 * 24 * HOUR_MS))
    assert.equal((await listSums('agent')).length, 3)
    await sumAll()
    assert.equal((await read()).spentMicro, 3_000_000n)
  })

  test('a stopped job ends after the statement that is running', async () => {
    await seedPayment(ctx, seeded, { at: hoursAgo(5), status: 'confirmed' })
    const page = await recordHourlySums(ctx, { mode: 'test', after: '', limit: 1_000, signal: AbortSignal.abort() })
    assert.deepEqual(page, { next: null, failures: [] })
    assert.deepEqual(await listHours(), [])
  })

  /** Sums all workspaces in both modes, in pages of `limit`. Returns the workspaces that could not be summed. */
  async function sumAll(at = NOW, limit = 1_000): Promise<string[]> {
    const found: string[] = []
    for (const mode of ['test', 'live'] as const) {
      let next: string | null = ''
      while (next !== null) {
        const page = await recordHourlySums(frozenAt(given.context, at), {
          ...{ mode, after: next, limit },
          signal: new AbortController().signal,
        })
        found.push(...page.failures.map(({ workspaceId }) => workspaceId))
        next = page.next
      }
    }
    return found
  }

  function placeOf({ workspace, mode }: Seed) {
    return { workspaceId: workspace.id, mode, by: 'agent', agentId: null } as const
  }

  function read(by: SpendingBy = 'agent', of: Seed = seeded, zone: string = 'UTC') {
    return getSpending(ctx, { ...placeOf(of), by, period: { name: 'custom', days: LAST_DAYS, zone } })
  }

  /** Reads the same 31 days, and the 31 days before, in every zone and by every name. */
  async function readReports() {
    return await Promise.all(ZONES.flatMap((zone) => SPENDING_BY.map((by) => read(by, seeded, zone))))
  }

  function buy(host: string, changes: Parameters<typeof seedPurchase>[3]) {
    return seedPurchase(ctx, seeded, { resourceUrl: `https://${host}/goods` }, changes)
  }

  /** The sums of these parts; without a part, the sums of all payments. */
  async function listSums(...parts: readonly string[]) {
    return await listSumsOf(seeded, parts.length === 0 ? ['all'] : parts)
  }

  async function listSumsOf({ workspace }: Seed, parts: readonly string[]) {
    const text = `select to_char(hour at time zone 'UTC', 'HH24:MI') as hour, name, confirmed, failed
      from hourly_sums where workspace_id = $1 and part = any($2) order by hourly_sums.hour, name`
    return await readRows(ctx.db, text, [workspace.id, parts])
  }

  async function listHours(of: Seed = seeded) {
    return (await listSumsOf(of, ['all'])).map(({ hour }) => hour)
  }

  async function seedAgent(name: string): Promise<Seed> {
    const agentId = agent(name)
    await createAgent(ctx, { workspaceId: seeded.workspace.id, mode: seeded.mode, id: agentId, actor: OPERATOR })
    return { ...seeded, agentId, grant: await seedGrant(ctx, { ...seeded, agentId }) }
  }
})
