import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { frozenAt } from '../../../../../test/support/context/moved-clock.ts'
import { seedPayment } from '../../../../../test/support/context/payment-rows.ts'
import { seedPurchase } from '../../../../../test/support/context/purchase-rows.ts'
import {
  address,
  agent,
  paymentRequest,
  RECIPIENT,
  seed,
  seedGrant,
  seedWallet,
  type Seed,
} from '../../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../../../test/support/wait-for.ts'
import { createAgent } from '../../agents/create-agent.ts'
import { OPERATOR } from '../../audit/audit-entry.ts'
import type { Context } from '../../context.ts'
import { createPayment } from '../../payment-requests/create-payment.ts'
import { labelRecipient } from '../../recipients/label-recipient.ts'
import { sumAgentRecipients } from './agent-recipients-store.ts'
import { getSpending } from './get-spending.ts'
import type { PeriodChoice } from './period.ts'
import type { SpendingBy } from './spending.ts'

const NOW = new Date('2026-06-17T12:34:56.789Z')
const at = (time: string): Date => new Date(`2026-${time}Z`)
const MONTH: PeriodChoice = { name: 'this_month', days: null, zone: 'UTC' }

describe('what was spent in a period', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
  })
  after(() => given.close())

  test('each amount counts in the day in which it was spent, exact to the micro-USDC', async () => {
    const seeded = await seed(ctx)
    await seedPayment(ctx, seeded, { at: at('06-01T00:00:00'), amountUsdc: '0.000001' })
    await seedPayment(ctx, seeded, {
      at: at('06-01T23:59:59.999'),
      amountUsdc: '123456789012.123456',
      status: 'confirmed',
    })
    await seedPayment(ctx, seeded, { at: at('06-17T12:00:00'), amountUsdc: '2', status: 'confirmed' })
    await seedPayment(ctx, seeded, { at: at('06-02T00:00:00'), amountUsdc: '5', status: 'failed' })
    await seedPayment(ctx, seeded, { at: at('05-31T23:59:59.999'), amountUsdc: '7' })
    await seedPayment(ctx, seeded, { at: at('05-17T23:59:59.999'), amountUsdc: '8' })
    const { spentMicro, previousMicro, pendingMicro, agents, counts, period } = await read(seeded)
    assert.deepEqual([spentMicro, pendingMicro], [123456789014123457n, 1n])
    // This month has had 17 days, so it is compared with the first 17 days of May.
    assert.equal(previousMicro, 8_000_000n)
    assert.deepEqual([agents.length, agents[0]?.agentId, period.bars.length], [1, seeded.agentId, 30])
    assert.deepEqual(agents[0]?.barsMicro.slice(0, 2), [123456789012123457n, 0n])
    assert.equal(agents[0]?.barsMicro[16], 2_000_000n)
    assert.deepEqual(counts, { confirmed: 2, pending: 1, failed: 1, refused: 0 })
  })

  test('days begin in the reader’s zone', async () => {
    const seeded = await seed(ctx)
    // In Kathmandu, 1 June begins at 18:15 UTC.
    await seedPayment(ctx, seeded, { at: at('05-31T18:14:59.999'), amountUsdc: '1' })
    await seedPayment(ctx, seeded, { at: at('05-31T18:15:00'), amountUsdc: '2' })
    const { agents, spentMicro } = await read(seeded, { period: { ...MONTH, zone: 'Asia/Kathmandu' } })
    assert.deepEqual([spentMicro, agents[0]?.barsMicro[0]], [2_000_000n, 2_000_000n])
  })

  test('the six agents that spent most are shown, the others together, and each has one colour in every period', async () => {
    const seeded = await seed(ctx)
    const colors = async (days: string) => {
      const { agents } = await read(seeded, { period: { name: 'custom', days: { from: days, to: days }, zone: 'UTC' } })
      return new Map(agents.map(({ agentId, color }) => [agentId, color]))
    }
    for (let index = 1; index <= 9; index += 1) {
      const of = await seedAgent(seeded, `agent ${index}`)
      await seedPayment(ctx, of, { at: at('06-10T12:00:00'), amountUsdc: String(index) })
      await seedPayment(ctx, of, { at: at('06-11T12:00:00'), amountUsdc: String(10 - index) })
    }
    const { agents, spentMicro } = await read(seeded, {
      period: { name: 'custom', days: { from: '2026-06-10', to: '2026-06-10' }, zone: 'UTC' },
    })
    assert.deepEqual(
      agents.map(({ agentId, totalMicro }) => [agentId, totalMicro / 1_000_000n]),
      [...[9, 8, 7, 6, 5, 4].map((index) => [`agent ${index}`, BigInt(index)]), [null, 6n]],
    )
    assert.equal(spentMicro, 45_000_000n)
    const [first, second] = [await colors('2026-06-10'), await colors('2026-06-11')]
    for (const name of ['agent 4', 'agent 5', 'agent 6']) assert.equal(first.get(agent(name)), second.get(agent(name)))
    assert.equal(new Set(first.values()).size, 7)
    assert.equal(first.get(null), null)
  })

  test('the same payments are added up by agent, recipient, wallet and website', async () => {
    const seeded = await seed(ctx)
    const other = { ...seeded, wallet: await seedWallet(ctx, seeded) }
    const stranger = address(`0x${'9'.repeat(40)}`)
    const label = { workspaceId: seeded.workspace.id, mode: 'test', address: RECIPIENT, label: 'Supplier' } as const
    await labelRecipient(ctx, { ...label, actor: OPERATOR })
    await seedPayment(ctx, seeded, { amountUsdc: '5', at: at('06-02T00:00:00'), status: 'confirmed' })
    await seedPayment(ctx, other, { amountUsdc: '1', at: at('06-03T00:00:00'), to: stranger })
    await seedPayment(ctx, seeded, { amountUsdc: '3', at: at('05-03T00:00:00'), to: stranger })
    await seedPurchase(ctx, seeded, {}, { amountUsdc: '0.25', at: at('06-04T00:00:00'), status: 'confirmed' })
    await seedPayment(ctx, seeded, {
      kind: 'withdrawal',
      amountUsdc: '70',
      at: at('06-05T00:00:00'),
      status: 'confirmed',
    })
    const rows = async (by: SpendingBy) =>
      (await read(seeded, { by })).rows.map(({ name, label: of, spentMicro, previousMicro, payments }) => [
        ...[name, of, spentMicro, previousMicro, payments],
      ])
    assert.deepEqual(await rows('agent'), [[seeded.agentId, null, 6_250_000n, 3_000_000n, 3]])
    assert.deepEqual(await rows('recipient'), [
      [RECIPIENT, 'Supplier', 5_250_000n, 0n, 2],
      [stranger, null, 1_000_000n, 3_000_000n, 1],
    ])
    assert.deepEqual(await rows('wallet'), [
      [seeded.wallet, 'Seeded', 5_250_000n, 3_000_000n, 2],
      [other.wallet, 'Seeded', 1_000_000n, 0n, 1],
    ])
    assert.deepEqual(await rows('host'), [['api.example', null, 250_000n, 0n, 1]])
    assert.equal((await read(seeded)).withdrawnMicro, 70_000_000n)
  })

  test('a website that is only the claim of agents has its own row', async () => {
    const seeded = await seed(ctx)
    const resourceUrl = 'https://a.example/goods'
    await seedPurchase(ctx, seeded, { resourceUrl }, { amountUsdc: '1', at: at('06-04T00:00:00') })
    await seedPurchase(ctx, seeded, { resourceUrl, delivery: null }, { amountUsdc: '2', at: at('06-04T00:00:00') })
    const { rows } = await read(seeded, { by: 'host' })
    assert.deepEqual(
      rows.map(({ name, isClaimed, spentMicro }) => [name, isClaimed, spentMicro]),
      [
        ['a.example', true, 2_000_000n],
        ['a.example', false, 1_000_000n],
      ],
    )
  })

  test('beyond a hundred rows, the others are added up and counted', async () => {
    const seeded = await seed(ctx)
    for (let index = 1; index <= 102; index += 1) {
      const to = address(`0x${String(index).padStart(40, '0')}`)
      await seedPayment(ctx, seeded, { at: at('06-04T00:00:00'), amountUsdc: String(index), to })
    }
    const { rows } = await read(seeded, { by: 'recipient' })
    assert.equal(rows.length, 101)
    const { name, names, spentMicro, payments } = rows.at(-1) ?? assert.fail()
    assert.deepEqual([name, names, spentMicro, payments], [null, 2, 3_000_000n, 2])
  })

  test('a report of one agent has its bars and totals only', async () => {
    const seeded = await seed(ctx)
    const other = await seedAgent(seeded, 'other')
    await seedPayment(ctx, seeded, { at: at('06-04T00:00:00'), amountUsdc: '50' })
    await seedPayment(ctx, other, { at: at('06-04T00:00:00'), amountUsdc: '2' })
    await seedPayment(ctx, other, { at: at('05-04T00:00:00'), amountUsdc: '3' })
    const { agents, spentMicro, previousMicro, counts } = await read(seeded, { agentId: other.agentId })
    assert.deepEqual([spentMicro, previousMicro, counts.pending], [2_000_000n, 3_000_000n, 1])
    assert.deepEqual(
      agents.map(({ agentId }) => agentId),
      [other.agentId],
    )
  })

  test('a report of one agent has what this agent paid to each recipient, in the period and in the one before', async () => {
    const seeded = await seed(ctx)
    const other = await seedAgent(seeded, 'other')
    const stranger = address(`0x${'9'.repeat(40)}`)
    const label = { workspaceId: seeded.workspace.id, mode: 'test', address: RECIPIENT, label: 'Supplier' } as const
    await labelRecipient(ctx, { ...label, actor: OPERATOR })
    await seedPayment(ctx, seeded, { at: at('06-04T00:00:00'), amountUsdc: '50' })
    await seedPayment(ctx, other, { at: at('06-04T00:00:00'), amountUsdc: '2', status: 'confirmed' })
    await seedPayment(ctx, other, { at: at('06-05T00:00:00'), amountUsdc: '4', to: stranger })
    await seedPayment(ctx, other, { at: at('06-05T00:00:00'), amountUsdc: '9', status: 'failed' })
    await seedPayment(ctx, other, { at: at('05-04T00:00:00'), amountUsdc: '3' })
    // After the part of May that this part of June is compared with.
    await seedPayment(ctx, other, { at: at('05-20T00:00:00'), amountUsdc: '7' })
    await seedPayment(ctx, { ...other, mode: 'live' }, { at: at('06-04T00:00:00'), amountUsdc: '8' })
    const { rows, spentMicro } = await read(seeded, { agentId: other.agentId, by: 'recipient' })
    assert.deepEqual(rows, [
      {
        name: stranger,
        label: null,
        isClaimed: false,
        spentMicro: 4_000_000n,
        previousMicro: 0n,
        payments: 1,
        names: 1,
      },
      {
        ...{ name: RECIPIENT, label: 'Supplier', isClaimed: false, spentMicro: 2_000_000n, previousMicro: 3_000_000n },
        ...{ payments: 1, names: 1 },
      },
    ])
    assert.equal(spentMicro, 6_000_000n)

    const request = { workspaceId: seeded.workspace.id, mode: 'test', agentId: other.agentId } as const
    const range = {
      ...{ ...request, from: 'pay_', below: 'pay_Z' },
      boundaries: [at('05-01T00:00:00'), at('05-17T00:00:00'), at('06-01T00:00:00'), at('07-01T00:00:00')],
    } as const
    const sum = (limits: { paymentsMax: number; rowsMax: number }) =>
      ctx.db.readSlow(sumAgentRecipients({ ...range, ...limits }))
    assert.deepEqual(
      (await sum({ paymentsMax: 100, rowsMax: 1 })).map(({ name, spentMicro: spent, names }) => [name, spent, names]),
      [
        [stranger, 4_000_000n, 1],
        [null, 2_000_000n, 1],
      ],
    )
    assert.deepEqual(await sum({ paymentsMax: 5, rowsMax: 1 }), [], 'the agent has five payments')
  })

  test('payments and refusals of another workspace, of the other mode or of another time are not counted', async () => {
    const [seeded, other] = [await seed(ctx), await seed(ctx)]
    await seedPayment(ctx, other, { at: NOW })
    await seedPayment(ctx, { ...seeded, mode: 'live' }, { at: NOW })
    const refuse = async (of: Seed, time: Date) =>
      await createPayment(frozenAt(ctx, time), paymentRequest(of, { amountUsdc: '11' }))
    await refuse(other, NOW)
    await refuse(seeded, at('05-31T23:59:59'))
    await refuse(seeded, NOW)
    // Wait, because refusals are stored a moment after the response.
    await waitFor('the refusals', async () => {
      const text = 'select 1 from payment_refusals where workspace_id = any($1)'
      return (await readRows(ctx.db, text, [[seeded.workspace.id, other.workspace.id]])).length === 3
    })
    const { counts, spentMicro, rows, agents } = await read(seeded)
    assert.deepEqual(counts, { confirmed: 0, pending: 0, failed: 0, refused: 1 })
    assert.deepEqual([spentMicro, rows, agents], [0n, [], []])
  })

  function read(
    { workspace, mode }: Seed,
    changes: Partial<Pick<Parameters<typeof getSpending>[1], 'period' | 'by' | 'agentId'>> = {},
  ) {
    return getSpending(ctx, { workspaceId: workspace.id, mode, period: MONTH, by: 'agent', agentId: null, ...changes })
  }

  async function seedAgent(seeded: Seed, name: string): Promise<Seed> {
    const agentId = agent(name)
    await createAgent(ctx, { workspaceId: seeded.workspace.id, mode: seeded.mode, id: agentId, actor: OPERATOR })
    return { ...seeded, agentId, grant: await seedGrant(ctx, { ...seeded, agentId }) }
  }
})
