import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { frozenAt } from '../../../../test/support/context/moved-clock.ts'
import { seedPayment } from '../../../../test/support/context/payment-rows.ts'
import { seedPurchase } from '../../../../test/support/context/purchase-rows.ts'
import { seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import { getSpendByHost, HOSTS_SHOWN_MAX } from './get-spend-by-host.ts'

const NOW = new Date('2026-06-01T12:34:56.789Z')

describe('what was spent on each host', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
  })
  after(() => given.close())

  test('a workspace without purchases has no hosts', async () => {
    const seeded = await seed(ctx)
    await seedPayment(ctx, seeded, { status: 'confirmed' })
    assert.deepEqual(await read(seeded), { since: new Date('2026-05-02T12:00:00.000Z'), hosts: [] })
  })

  test('confirmed and pending purchases are summed separately and exactly, and failed ones do not count', async () => {
    const seeded = await seed(ctx)
    await buy(seeded, 'a.example', { amountUsdc: '123456789012.123456', status: 'confirmed' })
    await buy(seeded, 'a.example', { amountUsdc: '0.000001', status: 'confirmed' })
    await buy(seeded, 'a.example', { amountUsdc: '2.5' })
    await buy(seeded, 'a.example', { amountUsdc: '7', status: 'failed' })
    await buy(seeded, 'b.example:8443', { amountUsdc: '1' })
    await buy(seeded, 'c.example', { amountUsdc: '9', status: 'failed' })
    assert.deepEqual((await read(seeded)).hosts, [
      {
        host: 'a.example',
        isClaimed: false,
        confirmedMicro: 123456789012123457n,
        pendingMicro: 2_500_000n,
        purchases: 3,
        hosts: 1,
      },
      {
        host: 'b.example:8443',
        isClaimed: false,
        confirmedMicro: 0n,
        pendingMicro: 1_000_000n,
        purchases: 1,
        hosts: 1,
      },
    ])
  })

  test('the hosts with the highest sums are shown separately, and all others together', async () => {
    const seeded = await seed(ctx)
    const ranks = Array.from({ length: HOSTS_SHOWN_MAX + 3 }, (_, index) => index + 1)
    // Pending purchases count for the order too. Two hosts with the same sum are ordered by name.
    for (const rank of ranks) {
      await buy(
        seeded,
        `host${rank}.example`,
        rank % 2 === 0 ? { amountUsdc: `${rank}` } : { ...PAID, amountUsdc: `${rank}` },
      )
    }
    await buy(seeded, 'host10b.example', { ...PAID, amountUsdc: '10' })
    const { hosts } = await read(seeded)
    assert.deepEqual(
      hosts.map(({ host }) => host),
      [
        ...['host11', 'host10', 'host10b', 'host9', 'host8', 'host7', 'host6', 'host5'].map(
          (name) => `${name}.example`,
        ),
        null,
      ],
    )
    const others = {
      host: null,
      isClaimed: false,
      confirmedMicro: 4_000_000n,
      pendingMicro: 6_000_000n,
      purchases: 4,
      hosts: 4,
    }
    assert.deepEqual(hosts.at(-1), others)
  })

  test('only purchases since the full hour 30 days ago, of this workspace and of this mode count', async () => {
    const [seeded, other] = [await seed(ctx), await seed(ctx)]
    const start = new Date('2026-05-02T12:00:00.000Z').getTime()
    await buy(seeded, 'old.example', { ...PAID, at: new Date(start - 1) })
    await buy(seeded, 'first.example', { ...PAID, at: new Date(start) })
    await buy(other, 'other.example', PAID)
    assert.deepEqual(
      (await read(seeded)).hosts.map(({ host }) => host),
      ['first.example'],
    )
    const { hosts } = await getSpendByHost(ctx, { workspaceId: seeded.workspace.id, mode: 'live' })
    assert.deepEqual(hosts, [])
  })

  test('a host that is only the claim of agents has its own sum', async () => {
    const seeded = await seed(ctx)
    await buy(seeded, 'a.example', { ...PAID, amountUsdc: '1' })
    const resourceUrl = 'https://a.example/goods'
    await seedPurchase(ctx, seeded, { resourceUrl, delivery: null }, { ...PAID, at: NOW, amountUsdc: '2' })
    assert.deepEqual((await read(seeded)).hosts, [
      { host: 'a.example', isClaimed: true, confirmedMicro: 2_000_000n, pendingMicro: 0n, purchases: 1, hosts: 1 },
      { host: 'a.example', isClaimed: false, confirmedMicro: 1_000_000n, pendingMicro: 0n, purchases: 1, hosts: 1 },
    ])
  })

  const PAID = { status: 'confirmed' } as const

  function buy(seeded: Seed, host: string, changes: Parameters<typeof seedPurchase>[3]) {
    return seedPurchase(ctx, seeded, { resourceUrl: `https://${host}/goods` }, { at: NOW, ...changes })
  }

  function read({ workspace, mode }: Seed) {
    return getSpendByHost(ctx, { workspaceId: workspace.id, mode })
  }
})
