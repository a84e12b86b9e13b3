import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../audit/audit-entry.ts'
import { frozenAt } from '../../../../../test/support/context/moved-clock.ts'
import { seedPayment } from '../../../../../test/support/context/payment-rows.ts'
import { seedPurchase } from '../../../../../test/support/context/purchase-rows.ts'
import { readRows } from '../../../../../test/support/database/read-rows.ts'
import {
  agent,
  paymentRequest,
  seed,
  seedGrant,
  seedWallet,
  type Seed,
} from '../../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../../test/support/wait-for.ts'
import { createEmptyWorkspace } from '../../workspaces/create-empty-workspace.ts'
import { createAgent } from '../../agents/create-agent.ts'
import type { Context } from '../../context.ts'
import { createPayment } from '../../payment-requests/create-payment.ts'
import { getOverview } from './get-overview.ts'
import { barsOf, type Range } from './overview.ts'

const NOW = new Date('2026-06-01T12:34:56.789Z')
const HOUR_MS = 60 * 60_000

describe('the bars of a chart', () => {
  const cases = [
    ['24h', 24, '2026-05-31T13:00:00.000Z', '2026-06-01T12:00:00.000Z'],
    ['7d', 28, '2026-05-25T13:00:00.000Z', '2026-06-01T07:00:00.000Z'],
    ['30d', 30, '2026-05-02T13:00:00.000Z', '2026-05-31T13:00:00.000Z'],
  ] as const
  for (const [range, count, first, last] of cases) {
    test(`a range of ${range} has ${count}, and the last one ends with the current hour`, () => {
      const { starts, end } = barsOf(range, NOW)
      assert.deepEqual([starts.length, starts[0], starts.at(-1)], [count, new Date(first), new Date(last)])
      assert.equal(end.toISOString(), '2026-06-01T13:00:00.000Z')
    })
  }

  test('at a full hour, the bar that has just ended is complete', () => {
    const { end } = barsOf('24h', new Date('2026-06-01T12:00:00.000Z'))
    assert.equal(end.toISOString(), '2026-06-01T13:00:00.000Z')
  })
})

describe('the overview', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
  })
  after(() => given.close())

  test('an empty workspace has no figures and no completed steps', async () => {
    const workspace = await createEmptyWorkspace(ctx, { name: 'Empty', plan: 'developer', actor: OPERATOR })
    const overview = await getOverview(ctx, { workspaceId: workspace.id, mode: 'test', range: '7d' })
    assert.deepEqual(
      { ...overview, bars: null },
      {
        range: '7d',
        bars: null,
        spentMicro: 0n,
        withdrawnMicro: 0n,
        spend: [],
        counts: { confirmed: 0, pending: 0, failed: 0, refused: 0 },
        caps: [],
        payments: [],
        steps: { wallet: false, deposit: false, agent: false, grant: false, key: false, payment: false },
        undelivered: { count: 0, since: new Date('2026-05-25T12:34:56.789Z') },
      },
    )
  })

  test('a withdrawal is no spending of an agent and no step of the setup', async () => {
    const seeded = await seed(ctx)
    await seedPayment(ctx, seeded, { kind: 'withdrawal', amountUsdc: '7.000001', status: 'confirmed' })
    await seedPayment(ctx, seeded, { kind: 'withdrawal', amountUsdc: '2' })
    await seedPayment(ctx, seeded, { kind: 'withdrawal', amountUsdc: '4', status: 'failed' })
    const place = { workspaceId: seeded.workspace.id, mode: 'test', range: '7d' } as const
    const before = await getOverview(ctx, place)
    assert.deepEqual([before.spentMicro, before.withdrawnMicro, before.spend], [0n, 9_000_001n, []])
    assert.deepEqual(before.counts, { confirmed: 0, pending: 0, failed: 0, refused: 0 })
    assert.equal(before.caps[0]?.spent24hMicro, 0n)
    assert.equal(before.steps.payment, false)
    assert.deepEqual(
      before.payments.map(({ kind, agentId, grantId }) => [kind, agentId, grantId]),
      Array.from({ length: 3 }, () => ['withdrawal', null, null]),
    )

    await seedPayment(ctx, seeded, { amountUsdc: '1' })
    const { spentMicro, withdrawnMicro, spend, counts, steps } = await getOverview(ctx, place)
    assert.deepEqual([spentMicro, withdrawnMicro, spend.length, counts.pending], [1_000_000n, 9_000_001n, 1, 1])
    assert.equal(steps.payment, true)
  })

  test('each amount counts in the bar in which it was spent, exact to the micro-USDC', async () => {
    const seeded = await seed(ctx)
    await seedPayment(ctx, seeded, { at: new Date('2026-06-01T12:00:00.000Z'), amountUsdc: '0.000001' })
    await seedPayment(ctx, seeded, { at: NOW, amountUsdc: '123456789012.123456', status: 'confirmed' })
    await seedPayment(ctx, seeded, { at: new Date('2026-06-01T11:59:59.999Z'), amountUsdc: '2' })
    await seedPayment(ctx, seeded, { at: new Date('2026-05-31T13:00:00.000Z'), amountUsdc: '3' })
    await seedPayment(ctx, seeded, { at: new Date('2026-05-31T12:59:59.999Z'), amountUsdc: '4', status: 'confirmed' })
    await seedPayment(ctx, seeded, { at: NOW, amountUsdc: '5', status: 'failed' })
    const { spend, spentMicro, counts } = await read(seeded, '24h')
    const [mine] = spend
    assert.deepEqual([spend.length, mine?.agentId, mine?.barsMicro.length], [1, seeded.agentId, 24])
    assert.deepEqual(
      [mine?.barsMicro[23], mine?.barsMicro[22], mine?.barsMicro[0]],
      [123456789012123457n, 2_000_000n, 3_000_000n],
    )
    assert.equal(spentMicro, 123456789017123457n)
    assert.equal(mine?.totalMicro, spentMicro)
    assert.deepEqual(counts, { confirmed: 1, pending: 3, failed: 1, refused: 0 })
    assert.equal((await read(seeded, '7d')).spentMicro, 123456789021123457n)
  })

  test('the six agents that spent most are shown separately, all others together', async () => {
    const seeded = await seed(ctx)
    for (let index = 1; index <= 9; index += 1) {
      const of = await seedAgent(seeded, `agent ${index}`)
      await seedPayment(ctx, of, { at: NOW, amountUsdc: String(index) })
    }
    await seedPayment(ctx, await seedAgent(seeded, 'failed'), { at: NOW, amountUsdc: '100', status: 'failed' })
    const { spend, spentMicro, counts } = await read(seeded, '24h')
    assert.deepEqual(
      spend.map(({ agentId, totalMicro }) => [agentId, totalMicro / 1_000_000n]),
      [...[9, 8, 7, 6, 5, 4].map((index) => [`agent ${index}`, BigInt(index)]), [null, 6n]],
    )
    assert.deepEqual([spentMicro, counts.pending, counts.failed], [45_000_000n, 9, 1])
  })

  test('payments of another workspace or of the other mode are not counted', async () => {
    const [seeded, other] = [await seed(ctx), await seed(ctx)]
    await seedPayment(ctx, other, { at: NOW })
    await createPayment(ctx, paymentRequest(other, { amountUsdc: '11' }))
    await createPayment(ctx, paymentRequest(seeded, { mode: 'live' }))
    const { counts, spentMicro, payments } = await read(seeded, '30d')
    assert.deepEqual([counts, spentMicro, payments], [{ confirmed: 0, pending: 0, failed: 0, refused: 0 }, 0n, []])
  })

  test('refusals are counted in the range in which they happened', async () => {
    const seeded = await seed(ctx)
    const refuseAt = (time: Date) => createPayment(frozenAt(ctx, time), paymentRequest(seeded, { amountUsdc: '11' }))
    await refuseAt(NOW)
    await refuseAt(new Date(NOW.getTime() - 25 * HOUR_MS))
    // Wait, because refusals are stored a moment after the response.
    await waitFor('both', async () => (await read(seeded, '7d')).counts.refused === 2)
    assert.equal((await read(seeded, '24h')).counts.refused, 1)
  })

  test('the caps of at most eight active grants are returned, the fullest first', async () => {
    const seeded = await seed(ctx, { dailyCap: '100' })
    await seedPayment(ctx, seeded, { at: NOW, amountUsdc: '10' })
    await seedPayment(ctx, seeded, { at: NOW, amountUsdc: '50', status: 'failed' })
    // One payment is just inside the 24-hour window, the other just outside (D16). Neither is in the chart with 24
    // bars.
    await seedPayment(ctx, seeded, { at: new Date(NOW.getTime() - 24 * HOUR_MS + 1), amountUsdc: '20' })
    await seedPayment(ctx, seeded, { at: new Date(NOW.getTime() - 24 * HOUR_MS), amountUsdc: '40' })
    const full = await seedAgent(seeded, 'full', { dailyCap: '1' })
    await seedPayment(ctx, full, { at: NOW, amountUsdc: '1' })
    // What the same agent spends from another wallet counts separately.
    const elsewhere = { ...full, wallet: await seedWallet(ctx, seeded) }
    const idle = await seedGrant(ctx, elsewhere, { dailyCap: '1' })
    await readRows(ctx.db, 'update grants set suspended_at = $1 where id = $2', [NOW, full.grant.id])
    const { caps } = await read(seeded, '24h')
    assert.deepEqual(
      caps.map(({ grantId, state, spent24hMicro, dailyCapMicro, walletName }) => [
        ...[grantId, state, spent24hMicro, dailyCapMicro, walletName],
      ]),
      [
        [full.grant.id, 'suspended', 1_000_000n, 1_000_000n, 'Seeded'],
        [seeded.grant.id, 'active', 30_000_000n, 100_000_000n, 'Seeded'],
        [idle.id, 'active', 0n, 1_000_000n, 'Seeded'],
      ],
    )
    for (let index = 0; index < 7; index += 1) await seedAgent(seeded, `more ${index}`)
    assert.equal((await read(seeded, '24h')).caps.length, 8)
    await readRows(ctx.db, `update grants set status = 'revoked', revoked_at = $1 where workspace_id = $2`, [
      NOW,
      seeded.workspace.id,
    ])
    assert.deepEqual((await read(seeded, '24h')).caps, [])
  })

  test('the latest five payments and the completed steps are returned', async () => {
    const seeded = await seed(ctx)
    assert.deepEqual((await read(seeded, '24h')).steps, {
      ...{ wallet: true, deposit: false, agent: true, grant: true, key: true, payment: false },
    })
    const ids: string[] = []
    for (let minute = 7; minute > 0; minute -= 1) {
      ids.unshift((await seedPayment(ctx, seeded, { at: new Date(NOW.getTime() - minute * 60_000) })).id)
    }
    const { payments, steps } = await read(seeded, '24h')
    assert.deepEqual(
      payments.map(({ id }) => id),
      ids.slice(0, 5),
    )
    assert.equal(steps.payment, true)
  })

  test('a purchase is spending of an agent, and completes the last step of the setup', async () => {
    const seeded = await seed(ctx)
    await seedPurchase(ctx, seeded, {}, { amountUsdc: '0.25', status: 'confirmed' })
    await seedPayment(ctx, seeded)
    const { spentMicro, steps, payments } = await read(seeded, '24h')
    assert.deepEqual([spentMicro, steps.payment], [1_250_000n, true])
    const hosts = Object.fromEntries(payments.map(({ kind, purchase }) => [kind, purchase?.host ?? null]))
    assert.deepEqual(hosts, { transfer: null, x402: 'api.example' })
  })

  test('purchases of the last seven days that were paid and not delivered are counted', async () => {
    const seeded = await seed(ctx)
    const count = async (by = ctx) => {
      const { undelivered } = await getOverview(by, { workspaceId: seeded.workspace.id, mode: 'test', range: '24h' })
      return undelivered.count
    }
    const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS)
    const buy = (bought: Parameters<typeof seedPurchase>[2], changes: Parameters<typeof seedPurchase>[3]) =>
      seedPurchase(ctx, seeded, bought, { status: 'confirmed', ...changes })
    await buy({}, { at: ago(1) })
    await buy({ delivery: null }, { at: ago(1) })
    await buy({ delivery: 'failed' }, { at: ago(1), status: 'pending' })
    await buy({ delivery: 'unknown' }, { at: ago(1), status: 'failed' })
    assert.equal(await count(), 0)
    await buy({ delivery: 'failed' }, { at: NOW })
    await buy({ delivery: 'unknown' }, { at: ago(7 * 24) })
    await buy({ delivery: 'failed' }, { at: new Date(ago(7 * 24).getTime() - 1) })
    assert.equal(await count(), 2)
    const fresh = await buy({ delivery: 'unknown' }, { at: NOW })
    assert.equal(await count(), 2)
    const expired = fresh.authorization?.validBefore ?? NOW
    // At that time, the purchase of seven days ago is too old to count.
    assert.equal(await count(frozenAt(ctx, expired)), 2)
    const text = `update purchases set delivery = 'delivered' where payment_id = $1`
    await readRows(ctx.db, text, [fresh.id])
    assert.equal(await count(frozenAt(ctx, expired)), 1)
    const live = await getOverview(ctx, { workspaceId: seeded.workspace.id, mode: 'live', range: '24h' })
    assert.equal(live.undelivered.count, 0)
  })

  test('an unsigned grant and a deleted agent complete no step', async () => {
    const seeded = await seed(ctx)
    await readRows(ctx.db, `update grants set status = 'pending', activated_at = null where id = $1`, [seeded.grant.id])
    await readRows(ctx.db, 'update agents set deleted_at = $1 where workspace_id = $2', [NOW, seeded.workspace.id])
    const { steps } = await read(seeded, '24h')
    assert.deepEqual([steps.grant, steps.agent], [false, false])
  })

  function read({ workspace, mode }: Seed, range: Range) {
    return getOverview(ctx, { workspaceId: workspace.id, mode, range })
  }

  async function seedAgent(seeded: Seed, name: string, terms: Parameters<typeof seedGrant>[2] = {}): Promise<Seed> {
    const agentId = agent(name)
    await readRows(ctx.db, `update workspaces set plan = 'scale' where id = $1`, [seeded.workspace.id])
    await createAgent(ctx, { workspaceId: seeded.workspace.id, mode: seeded.mode, id: agentId, actor: OPERATOR })
    return { ...seeded, agentId, grant: await seedGrant(ctx, { ...seeded, agentId }, terms) }
  }
})
