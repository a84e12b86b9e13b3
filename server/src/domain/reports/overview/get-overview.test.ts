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
import { recordBalances } from '../../wallets/record-balances.ts'
import { checkConditions, OVERDUE_AFTER_MS } from '../conditions/conditions.ts'
import { listUnsigned } from '../conditions/list-unsigned.ts'
import { getFunds } from '../funds/get-funds.ts'
import { getOverview } from './get-overview.ts'

const NOW = new Date('2026-06-01T12:34:56.789Z')
const HOUR_MS = 60 * 60_000
const ago = (hours: number): Date => new Date(NOW.getTime() - hours * HOUR_MS)

describe('the overview', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
  })
  after(() => given.close())

  test('an empty workspace has nothing that needs attention, and no completed steps', async () => {
    const workspace = await createEmptyWorkspace(ctx, { name: 'Empty', plan: 'developer', actor: OPERATOR })
    const { facts, ...overview } = await getOverview(ctx, { workspaceId: workspace.id, mode: 'test' })
    assert.deepEqual(overview, {
      wallets: [],
      caps: [],
      capsCount: 0,
      payments: [],
      steps: { wallet: false, deposit: false, agent: false, grant: false, key: false, payment: false },
    })
    assert.deepEqual(checkConditions({ ...facts, unsigned: [] }), [])
  })

  test('a withdrawal is no step of the setup and counts against no limit', async () => {
    const seeded = await seed(ctx)
    await seedPayment(ctx, seeded, { kind: 'withdrawal', amountUsdc: '7.000001', status: 'confirmed' })
    const { caps, steps, payments } = await read(seeded)
    assert.deepEqual([caps[0]?.spent24hMicro, steps.payment], [0n, false])
    assert.deepEqual(
      payments.map(({ kind, agentId, grantId }) => [kind, agentId, grantId]),
      [['withdrawal', null, null]],
    )
    await seedPayment(ctx, seeded)
    assert.equal((await read(seeded)).steps.payment, true)
  })

  test('the eight grants that used most of their limits are returned, with the number of all', async () => {
    const seeded = await seed(ctx, { dailyCap: '100' })
    await seedPayment(ctx, seeded, { at: NOW, amountUsdc: '10' })
    await seedPayment(ctx, seeded, { at: NOW, amountUsdc: '50', status: 'failed' })
    // One payment is just inside the 24-hour window, the other just outside (D16).
    await seedPayment(ctx, seeded, { at: new Date(ago(24).getTime() + 1), amountUsdc: '20' })
    await seedPayment(ctx, seeded, { at: ago(24), amountUsdc: '40' })
    const full = await seedAgent(seeded, 'full', { dailyCap: '1' })
    await seedPayment(ctx, full, { at: NOW, amountUsdc: '1' })
    // What the same agent spends from another wallet counts separately.
    const elsewhere = { ...full, wallet: await seedWallet(ctx, seeded) }
    const idle = await seedGrant(ctx, elsewhere, { dailyCap: '1' })
    await readRows(ctx.db, 'update grants set suspended_at = $1 where id = $2', [NOW, full.grant.id])
    const { caps } = await read(seeded)
    assert.deepEqual(
      caps.map(({ id, state, spent24hMicro, dailyCapMicro, walletName }) => [
        ...[id, state, spent24hMicro, dailyCapMicro, walletName],
      ]),
      [
        [full.grant.id, 'suspended', 1_000_000n, 1_000_000n, 'Seeded'],
        [seeded.grant.id, 'active', 30_000_000n, 100_000_000n, 'Seeded'],
        [idle.id, 'active', 0n, 1_000_000n, 'Seeded'],
      ],
    )
    for (let index = 0; index < 7; index += 1) await seedAgent(seeded, `more ${index}`)
    const { caps: eight, capsCount } = await read(seeded)
    assert.deepEqual([eight.length, capsCount], [8, 10])
    await readRows(ctx.db, `update grants set status = 'revoked', revoked_at = $1 where workspace_id = $2`, [
      NOW,
      seeded.workspace.id,
    ])
    assert.deepEqual((await read(seeded)).caps, [])
  })

  test('the latest five payments and the completed steps are returned', async () => {
    const seeded = await seed(ctx)
    assert.deepEqual((await read(seeded)).steps, {
      ...{ wallet: true, deposit: false, agent: true, grant: true, key: true, payment: false },
    })
    const ids: string[] = []
    for (let minute = 7; minute > 0; minute -= 1) {
      ids.unshift((await seedPayment(ctx, seeded, { at: new Date(NOW.getTime() - minute * 60_000) })).id)
    }
    const { payments, steps } = await read(seeded)
    assert.deepEqual(
      payments.map(({ id }) => id),
      ids.slice(0, 5),
    )
    assert.equal(steps.payment, true)
  })

  test('an unsigned grant and a deleted agent complete no step', async () => {
    const seeded = await seed(ctx)
    await readRows(ctx.db, `update grants set status = 'pending', activated_at = null where id = $1`, [seeded.grant.id])
    await readRows(ctx.db, 'update agents set deleted_at = $1 where workspace_id = $2', [NOW, seeded.workspace.id])
    const { steps } = await read(seeded)
    assert.deepEqual([steps.grant, steps.agent], [false, false])
  })

  test('purchases of the last seven days that were paid and not delivered are counted', async () => {
    const seeded = await seed(ctx)
    const count = async (by = ctx) => (await read(seeded, by)).facts.undelivered.count
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
    await readRows(ctx.db, `update purchases set delivery = 'delivered' where payment_id = $1`, [fresh.id])
    assert.equal(await count(frozenAt(ctx, expired)), 1)
    const live = await getOverview(ctx, { workspaceId: seeded.workspace.id, mode: 'live' })
    assert.equal(live.facts.undelivered.count, 0)
  })

  test('refusals that an agent gets three times in a day are facts, and others are not', async () => {
    const seeded = await seed(ctx)
    const refuse = (time: Date, amountUsdc: string) =>
      createPayment(frozenAt(ctx, time), paymentRequest(seeded, { amountUsdc }))
    for (const time of [NOW, NOW, ago(23)]) await refuse(time, '11')
    await refuse(ago(25), '11')
    // Wait, because refusals are stored a moment after the response.
    await waitFor('the refusals', async () => {
      const text = 'select 1 from payment_refusals where workspace_id = $1'
      return (await readRows(ctx.db, text, [seeded.workspace.id])).length === 4
    })
    const { refusals } = (await read(seeded)).facts
    assert.deepEqual(
      refusals.map(({ agentId, code, times }) => [agentId, code, times]),
      [[seeded.agentId, 'amount_too_large', 3]],
    )
  })

  test('a wallet holds its stored balance without the payments since, whether the chain responds or not', async (t) => {
    const seeded = await seed(ctx, { dailyCap: '500' })
    given.chains.test.balances.set(seeded.wallet.toLowerCase(), 100_000_000n)
    assert.equal((await readWallet(seeded)).availableMicro, null)
    await recordBalances(ctx, { mode: 'test', after: null, signal: new AbortController().signal })
    await seedPayment(ctx, seeded, { at: NOW, amountUsdc: '99.5' })
    given.chains.test.down = true
    t.after(() => (given.chains.test.down = false))
    const { balanceMicro, availableMicro, limitsLeftMicro, canSpendMicro, readAt } = await readWallet(seeded)
    assert.deepEqual([balanceMicro, availableMicro], [100_000_000n, 500_000n])
    assert.deepEqual([limitsLeftMicro, canSpendMicro, readAt], [400_500_000n, 500_000n, NOW])
  })

  test('payments that are pending for too long are counted by wallet', async () => {
    const seeded = await seed(ctx)
    await seedPayment(ctx, seeded, { at: new Date(NOW.getTime() - OVERDUE_AFTER_MS) })
    assert.equal((await readWallet(seeded)).overdue, 0)
    await seedPayment(ctx, seeded, { at: new Date(NOW.getTime() - OVERDUE_AFTER_MS - 1) })
    await seedPayment(ctx, seeded, { at: ago(30), status: 'confirmed' })
    assert.equal((await readWallet(seeded)).overdue, 1)
  })

  test('a grant waits for a signature until it is signed or has expired', async () => {
    const seeded = await seed(ctx)
    const list = () => listUnsigned(ctx, { workspaceId: seeded.workspace.id, mode: 'test', userId: 'usr_nobody' })
    assert.deepEqual(await list(), [])
    await readRows(ctx.db, `update grants set status = 'pending', activated_at = null where id = $1`, [seeded.grant.id])
    assert.deepEqual(
      (await list()).map(({ id, walletName, isMine }) => [id, walletName, isMine]),
      [[seeded.grant.id, 'Seeded', false]],
    )
    await readRows(ctx.db, 'update grants set expires_at = $2 where id = $1', [seeded.grant.id, NOW])
    assert.deepEqual(await list(), [])
  })

  test('a grant for which the enclave has other terms needs attention while it is active', async () => {
    const seeded = await seed(ctx)
    const names = async () => checkConditions({ ...(await read(seeded)).facts, unsigned: [] }).map(({ name }) => name)
    assert.equal((await names()).includes('grant_altered'), false)
    await readRows(ctx.db, 'update grants set differs_since = $2 where id = $1', [seeded.grant.id, NOW])
    assert.equal((await names())[0], 'grant_altered')
    await readRows(ctx.db, `update grants set status = 'revoked', revoked_at = $2 where id = $1`, [
      seeded.grant.id,
      NOW,
    ])
    assert.equal((await names()).includes('grant_altered'), false)
  })

  function read({ workspace, mode }: Seed, by = ctx) {
    return getOverview(by, { workspaceId: workspace.id, mode })
  }

  async function readWallet({ workspace, mode }: Seed) {
    const [wallet] = await getFunds(ctx, { workspaceId: workspace.id, mode })
    return wallet ?? assert.fail('there is no wallet')
  }

  async function seedAgent(seeded: Seed, name: string, terms: Parameters<typeof seedGrant>[2] = {}): Promise<Seed> {
    const agentId = agent(name)
    await readRows(ctx.db, `update workspaces set plan = 'scale' where id = $1`, [seeded.workspace.id])
    await createAgent(ctx, { workspaceId: seeded.workspace.id, mode: seeded.mode, id: agentId, actor: OPERATOR })
    return { ...seeded, agentId, grant: await seedGrant(ctx, { ...seeded, agentId }, terms) }
  }
})
