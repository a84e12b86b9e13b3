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
import { getSpendByHost } from '../purchases/get-spend-by-host.ts'
import { getOverview } from '../reports/overview/get-overview.ts'
import { RANGES, type Range } from '../reports/overview/overview.ts'
import { recordHourlySums } from './record-hourly-sums.ts'

const NOW = new Date('2026-06-01T12:34:56.789Z')
const HOUR_MS = 60 * 60_000
const RANGE_NAMES = Object.keys(RANGES) as Range[]
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

  test('an overview is the same before its hours are summed and after', async () => {
    const other = await seedAgent('other')
    for (let index = 0; index < 120; index += 1) {
      await seedPayment(ctx, index % 3 === 0 ? other : seeded, {
        // 120 times in 32 days, in all parts of an hour.
        at: hoursAgo((index * 32 * 24) / 120),
        amountUsdc: `${index + 1}.00000${index % 10}`,
        status: index % 5 === 0 ? 'failed' : 'confirmed',
        kind: index % 7 === 0 ? 'withdrawal' : 'transfer',
      })
    }
    for (let index = 0; index < 60; index += 1) {
      await buy(`host${index % 11}.example`, {
        at: hoursAgo((index * 32 * 24) / 60),
        amountUsdc: `0.0${index + 1}`,
        status: index % 6 === 0 ? 'failed' : 'confirmed',
      })
    }
    await seedPayment(ctx, seeded, { at: hoursAgo(0), amountUsdc: '3' })
    await buy('host3.example', { at: hoursAgo(0) })
    const unsummed = await readOverviews()
    await sumAll()
    assert.deepEqual(await readOverviews(), unsummed)
    assert.ok((await listSums()).length > 60)
  })

  test('the overview reads a sum, and not the payments that are in it', async () => {
    await seedPayment(ctx, seeded, { at: hoursAgo(5), amountUsdc: '2', status: 'confirmed' })
    await seedPayment(ctx, seeded, { at: hoursAgo(1), amountUsdc: '0.5', status: 'confirmed' })
    await sumAll()
    await readRows(ctx.db, 'update hourly_payment_sums set spent_micro = 7, confirmed = 3 where workspace_id = $1', [
      seeded.workspace.id,
    ])
    const { spentMicro, counts } = await read('24h')
    assert.deepEqual([spentMicro, counts.confirmed], [500_007n, 4])
  })

  test('the sums by host are read too, and not the purchases that are in them', async () => {
    await buy('a.example', { at: hoursAgo(5), amountUsdc: '2', status: 'confirmed' })
    await buy('a.example', { at: hoursAgo(5), amountUsdc: '3', status: 'confirmed' })
    const claimed = { at: hoursAgo(5), amountUsdc: '1', status: 'confirmed' } as const
    await seedPurchase(ctx, seeded, { resourceUrl: 'https://a.example/goods', delivery: null }, claimed)
    await buy('b.example', { at: hoursAgo(1), amountUsdc: '0.5' })
    await sumAll()
    await readRows(ctx.db, 'update hourly_host_sums set spent_micro = spent_micro + 1 where workspace_id = $1', [
      seeded.workspace.id,
    ])
    assert.deepEqual((await getSpendByHost(ctx, { workspaceId: seeded.workspace.id, mode: 'test' })).hosts, [
      { host: 'a.example', isClaimed: false, confirmedMicro: 5_000_001n, pendingMicro: 0n, purchases: 2, hosts: 1 },
      { host: 'a.example', isClaimed: true, confirmedMicro: 1_000_001n, pendingMicro: 0n, purchases: 1, hosts: 1 },
      { host: 'b.example', isClaimed: false, confirmedMicro: 0n, pendingMicro: 500_000n, purchases: 1, hosts: 1 },
    ])
  })

  test('an hour with a pending payment is summed when the payment has ended, and so are the later hours', async () => {
    for (const hours of [6, 4, 3]) await seedPayment(ctx, seeded, { at: hoursAgo(hours), status: 'confirmed' })
    const pending = await seedPayment(ctx, seeded, { at: hoursAgo(4), amountUsdc: '9' })
    await buy('a.example', { at: hoursAgo(4), status: 'confirmed', amountUsdc: '5' })
    const unsummed = await readOverviews()
    await sumAll()
    assert.deepEqual(await listHours(), ['06:00'])
    assert.deepEqual(await readOverviews(), unsummed)
    const end = `update payments set status = 'failed', failure_code = 'never_received', settled_at = $1 where id = $2`
    await readRows(ctx.db, end, [NOW, pending.id])
    await sumAll()
    assert.deepEqual(await listHours(), ['06:00', '08:00', '09:00'])
    const { spentMicro, counts } = await read('24h')
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
    const unsummed = await readOverviews()
    await sumAll()
    assert.deepEqual(
      (await listSums()).map(({ hour, agent_id: agentId }) => [hour, agentId]),
      [
        ['06:00', ''],
        ['06:00', seeded.agentId],
        ['07:00', seeded.agentId],
      ],
    )
    assert.deepEqual(await readOverviews(), unsummed)
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
      (await listSums()).map(({ agent_id: agentId, confirmed, failed }) => [agentId, confirmed, failed]),
      [
        [seeded.agentId, 3, 1],
        [other.agentId, 1, 1],
      ],
    )
    const { hosts } = await getSpendByHost(ctx, { workspaceId: seeded.workspace.id, mode: 'test' })
    assert.deepEqual(
      hosts.map(({ host, purchases }) => [host, purchases]),
      [
        ['a.example', 1],
        ['b.example', 1],
      ],
    )
  })

  test('older payments than 31 days are not summed, and a sum deletes those of 31 days before it', async () => {
    for (const days of [32, 30]) await buy('a.example', { at: hoursAgo(days * 24), status: 'confirmed' })
    await sumAll()
    const countHosts = () =>
      readRows(ctx.db, 'select hour from hourly_host_sums where workspace_id = $1', [seeded.workspace.id])
    assert.deepEqual([(await listSums()).length, (await countHosts()).length], [1, 1])
    await buy('a.example', { at: hoursAgo(-19 * 24), status: 'confirmed' })
    await sumAll(new Date(NOW.getTime() + 20 * 24 * HOUR_MS))
    assert.deepEqual([(await listSums()).length, (await countHosts()).length], [1, 1])
  })

  test('the two modes and the other workspaces are summed separately, page by page', async () => {
    const others = [await seed(ctx), await seed(ctx)]
    for (const each of [seeded, ...others]) await seedPayment(ctx, each, { at: hoursAgo(5), status: 'confirmed' })
    await seedPayment(ctx, { ...seeded, mode: 'live' }, { at: hoursAgo(4), status: 'confirmed' })
    await sumAll(NOW, 1)
    for (const each of [seeded, ...others]) {
      assert.deepEqual(await listHours(each), each === seeded ? ['07:00', '08:00'] : ['07:00'])
      assert.equal((await read('24h', each)).spentMicro, 1_000_000n)
    }
  })

  test('if the sums of one workspace cannot be stored, those of the others are', async () => {
    const others = [await seed(ctx), await seed(ctx)]
    for (const each of [seeded, ...others]) await seedPayment(ctx, each, { at: hoursAgo(5), status: 'confirmed' })
    const fault = `alter table hourly_payment_sums add constraint fault check (workspace_id <> '${seeded.workspace.id}')`
    await readRows(ctx.db, fault)
    const failed = await sumAll()
    await readRows(ctx.db, 'alter table hourly_payment_sums drop constraint fault')
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
    await readRows(ctx.db, 'alter table hourly_payment_sums add constraint fault check (false) not valid')
    const page = await recordHourlySums(ctx, {
      mode: 'test',
      after: '',
      limit: 1_000,
      signal: new AbortController().signal,
    })
    const failed = await sumAll()
    await readRows(ctx.db, 'alter table hourly_payment_sums drop constraint fault')
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
    const corrected = await readOverviews()
    assert.deepEqual([corrected.overviews[0]?.spentMicro, corrected.hosts[0]?.purchases], [4_000_000n, 2])
    await sumAll(at('14:30:00'))
    assert.deepEqual(await listHours(), ['09:00', '12:00'])
    assert.deepEqual(await readOverviews(), corrected)
  })

  test('a clock that is far ahead deletes no sum that is still needed', async () => {
    for (const days of [29, 0.5]) await seedPayment(ctx, seeded, { at: hoursAgo(days * 24), status: 'confirmed' })
    await sumAll()
    await seedPayment(ctx, seeded, { at: hoursAgo(-1), status: 'confirmed' })
    await sumAll(new Date(NOW.getTime() + 20 * 24 * HOUR_MS))
    assert.equal((await listSums()).length, 3)
    await sumAll()
    assert.equal((await read('30d')).spentMicro, 2_000_000n)
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

  function read(range: Range, { workspace, mode }: Seed = seeded) {
    return getOverview(ctx, { workspaceId: workspace.id, mode, range })
  }

  async function readOverviews() {
    const { hosts } = await getSpendByHost(ctx, { workspaceId: seeded.workspace.id, mode: 'test' })
    return { hosts, overviews: await Promise.all(RANGE_NAMES.map((range) => read(range))) }
  }

  function buy(host: string, changes: Parameters<typeof seedPurchase>[3]) {
    return seedPurchase(ctx, seeded, { resourceUrl: `https://${host}/goods` }, changes)
  }

  async function listSums({ workspace }: Seed = seeded) {
    const text = `select to_char(hour at time zone 'UTC', 'HH24:MI') as hour, agent_id, confirmed, failed
      from hourly_payment_sums where workspace_id = $1 order by hourly_payment_sums.hour, agent_id`
    return await readRows(ctx.db, text, [workspace.id])
  }

  async function listHours(of?: Seed) {
    return (await listSums(of)).map(({ hour }) => hour)
  }

  async function seedAgent(name: string): Promise<Seed> {
    const agentId = agent(name)
    await createAgent(ctx, { workspaceId: seeded.workspace.id, mode: seeded.mode, id: agentId, actor: OPERATOR })
    return { ...seeded, agentId, grant: await seedGrant(ctx, { ...seeded, agentId }) }
  }
})
