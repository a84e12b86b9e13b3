import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { holdTable } from '../../../../test/support/database/hold-table.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { address, agent, paymentRequest, RECIPIENT, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { openContext } from '../../service.ts'
import { createId } from '../../values/ids.ts'
import { microUsdc } from '../../values/money.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { labelRecipient } from '../recipients/label-recipient.ts'
import type { Context } from '../context.ts'
import type { PaymentRequest } from '../payment-requests/payment-request.ts'
import { createPayment } from '../payment-requests/create-payment.ts'
import { DROPPED_BYTES_MAX } from '../stored-bytes/stored-bytes.ts'
import { getSpending } from '../reports/spending/get-spending.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import { getRefusal, listRefusals } from './queries.ts'
import {
  REFUSAL_RETENTION_MS,
  REFUSALS_KEPT_MAX,
  type ListedRefusal,
  type PaymentRefusal,
  type RefusalFilter,
} from './refusal.ts'
import { trimRefusals } from './trim-refusals.ts'

const OTHER = address('0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC')

describe('refusals of payments', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a refusal is stored with the request and the reason', async () => {
    const seeded = await seed(ctx)
    const request = { amountUsdc: '10.5', memo: 'lunch', idempotencyKey: 'k', credentialId: 'key_1' }
    const outcome = await refuse(seeded, request)
    const [kept] = await listKept(seeded, 1)
    assert.deepEqual(kept, {
      workspaceId: seeded.workspace.id,
      id: kept?.id,
      mode: 'test',
      credentialId: 'key_1',
      agentId: seeded.agentId,
      wallet: seeded.wallet,
      to: RECIPIENT,
      amountUsdc: '10.5',
      memo: 'lunch',
      idempotencyKey: 'k',
      resourceUrl: null,
      code: 'amount_too_large',
      details: { max_per_tx_usdc: '10', requested: '10.5' },
      createdAt: kept?.createdAt,
    })
    assert.match(kept?.id ?? '', /^ref_[0-9A-HJKMNP-TV-Z]{26}$/)
    assert.deepEqual({ code: kept?.code, details: kept?.details }, outcome)
    assert.deepEqual(
      await getRefusal(ctx, { workspaceId: seeded.workspace.id, mode: 'test', id: kept?.id ?? '' }),
      kept,
    )
  })

  test('a refusal is stored even if the agent or the wallet does not exist', async () => {
    const seeded = await seed(ctx)
    given.chains.test.balances.set(seeded.wallet.toLowerCase(), 0n)
    await refuse(seeded, { agentId: agent('nobody') })
    await refuse(seeded, { wallet: RECIPIENT })
    await refuse(seeded, {})
    const codes = (await listKept(seeded, 3)).map(({ code }) => code)
    assert.deepEqual(codes.toSorted(), ['agent_not_found', 'insufficient_balance', 'wallet_not_found'])
  })

  test('a payment that is created or replayed leaves no refusal', async () => {
    const seeded = await seed(ctx)
    for (const kind of ['created', 'replayed']) {
      assert.equal((await createPayment(ctx, paymentRequest(seeded, { idempotencyKey: 'k' }))).kind, kind)
    }
    // Refusals are stored in order. If the requests above had caused a refusal, it would be stored before the next
    // refusal, and the list would have two.
    await refuse(seeded, { amountUsdc: '11' })
    await listKept(seeded, 1)
  })

  test('neither the caller nor other payments wait until a refusal is stored', async () => {
    const seeded = await seed(ctx)
    const release = await holdTable(ctx.db, 'payment_refusals')
    try {
      const refusals = await Promise.all(Array.from({ length: 20 }, () => refuse(seeded, { amountUsdc: '11' })))
      assert.ok(refusals.every(({ code }) => code === 'amount_too_large'))
      assert.equal((await createPayment(ctx, paymentRequest(seeded))).kind, 'created')
    } finally {
      await release()
    }
    await listKept(seeded, 20)
  })

  test('a process that stops first stores all refusals that are not stored yet', async () => {
    const seeded = await seed(ctx)
    const other = openContext(given.config, { clock: given.clock, logger: ctx.logger })
    await createPayment(other.context, paymentRequest(seeded, { amountUsdc: '11' }))
    await other.close()
    assert.equal((await list(seeded)).length, 1)
  })

  test('refusals are listed newest first, page by page, for one mode and optionally for one agent', async () => {
    const seeded = await seed(ctx)
    for (const agentId of ['first', 'second', 'first', 'first']) await refuse(seeded, { agentId: agent(agentId) })
    await refuse(seeded, { agentId: agent('first'), mode: 'live' })
    const all = await listKept(seeded, 4)
    assert.deepEqual(
      all.map(({ id }) => id),
      all.map(({ id }) => id).toSorted((left, right) => (left < right ? 1 : -1)),
    )
    const agents = all.map(({ agentId }) => agentId)
    assert.deepEqual(agents.toSorted(), ['first', 'first', 'first', 'second'])
    const filter = { agentId: 'first' }
    const request = { workspaceId: seeded.workspace.id, mode: 'test', filter, limit: 2 } as const
    const page = await listRefusals(ctx, { ...request, before: null })
    const rest = await listRefusals(ctx, { ...request, before: page.next })
    assert.deepEqual([page.items.length, page.next, rest.next], [2, page.items[1]?.id, null])
    const ofFirst = all.filter(({ agentId }) => agentId === 'first').map(({ id }) => id)
    assert.deepEqual(
      [...page.items, ...rest.items].map(({ id }) => id),
      ofFirst,
    )
  })

  test('refusals can be searched and filtered, and identical ones are listed once', async () => {
    const seeded = await seed(ctx)
    const { workspace, mode } = seeded
    const label = { workspaceId: workspace.id, mode, address: RECIPIENT, label: 'Café Zürich', actor: OPERATOR }
    await labelRecipient(ctx, label)
    for (const memo of ['first', 'again', 'last']) await refuse(seeded, { amountUsdc: '11', memo })
    await refuse(seeded, { amountUsdc: '12.5', memo: 'für Lunch', idempotencyKey: 'order-7' })
    await refuse(seeded, { agentId: agent('nobody'), to: OTHER, amountUsdc: '11' })
    const all = await listKept(seeded, 5)
    const grouped = await find(seeded, {})
    assert.deepEqual(
      grouped.map(({ amountUsdc, agentId, times }) => [amountUsdc, agentId, times]),
      [
        ['11', 'nobody', 1],
        ['12.5', seeded.agentId, 1],
        ['11', seeded.agentId, 3],
      ],
    )
    const group = grouped[2] ?? assert.fail()
    assert.deepEqual([group.memo, group.firstAt], ['last', all[4]?.createdAt])
    const filters: readonly (readonly [RefusalFilter, number])[] = [
      [{ search: 'ZURICH' }, 4],
      [{ search: 'fur lunch' }, 1],
      [{ search: 'order-7' }, 1],
      [{ search: 'NOBODY' }, 1],
      [{ search: '12.5' }, 1],
      [{ search: '>11' }, 1],
      [{ search: '<=11' }, 4],
      [{ search: group.id }, 1],
      [{ search: `${OTHER.slice(0, 6)}…${OTHER.slice(-4)}` }, 1],
      [{ search: seeded.wallet }, 5],
      [{ search: 'nothing' }, 0],
      [{ recipient: OTHER }, 1],
      [{ wallet: OTHER }, 0],
      [{ code: 'amount_too_large' }, 4],
      [{ code: 'agent_not_found', agentId: 'nobody' }, 1],
      [{ minMicro: microUsdc(12_000_000n) }, 1],
      [{ maxMicro: microUsdc(11_000_000n), search: '>=11' }, 4],
      [{ from: new Date(group.createdAt.getTime() + 60_000) }, 0],
      [{ to: new Date(group.createdAt.getTime() + 60_000) }, 5],
    ]
    for (const [filter, count] of filters) {
      const found = await find(seeded, filter)
      assert.equal(
        found.reduce((sum, { times }) => sum + times, 0),
        count,
        JSON.stringify(filter, (_, value: unknown) => String(value)),
      )
    }
    // Pages have no gaps and no duplicates. A group has the place of its newest refusal.
    const page = await listRefusals(ctx, { workspaceId: workspace.id, mode, isGrouped: true, before: null, limit: 2 })
    const rest = await listRefusals(ctx, {
      workspaceId: workspace.id,
      mode,
      isGrouped: true,
      before: page.next,
      limit: 2,
    })
    assert.deepEqual([...page.items, ...rest.items], grouped)
    assert.equal(rest.next, null)
  })

  test('a refusal is not found in another workspace or mode, or by a malformed id', async () => {
    const [seeded, other] = [await seed(ctx), await seed(ctx)]
    await refuse(seeded, { amountUsdc: '11' })
    const id = (await listKept(seeded, 1))[0]?.id ?? ''
    const places = [
      { workspaceId: other.workspace.id, mode: 'test', id },
      { workspaceId: seeded.workspace.id, mode: 'live', id },
      { workspaceId: seeded.workspace.id, mode: 'test', id: `${id}x` },
      { workspaceId: seeded.workspace.id, mode: 'test', id: '' },
    ] as const
    for (const place of places) await assert.rejects(getRefusal(ctx, place), { type: 'not_found' })
  })

  test('refusals are deleted after 30 days, and not before', async () => {
    const seeded = await seed(ctx)
    await refuse(seeded, { amountUsdc: '11' })
    await listKept(seeded, 1)
    await cleanUpOnce(later(ctx, REFUSAL_RETENTION_MS - 60_000), 'refusals')
    assert.equal((await list(seeded)).length, 1)
    assert.ok((await cleanUpOnce(later(ctx, REFUSAL_RETENTION_MS + 60_000), 'refusals')) >= 1)
    assert.deepEqual(await list(seeded), [])
    assert.equal(await cleanUpOnce(later(ctx, REFUSAL_RETENTION_MS + 60_000), 'refusals'), 0)
  })

  test('for each workspace and mode only the newest are kept, up to the limit', async () => {
    const [busy, quiet, before] = [await seed(ctx), await seed(ctx), await seed(ctx)]
    await seedRefusals(busy, 12)
    await seedRefusals({ ...busy, mode: 'live' }, 3)
    await seedRefusals(quiet, 10)
    // This workspace has no refusals from the last hour, so it is not checked. In practice, its older refusals would
    // have been trimmed within an hour of their creation.
    await seedRefusals(before, 12, new Date(given.clock.now().getTime() - 2 * 60 * 60_000))
    const kept = (await list(busy)).slice(0, 10)
    assert.equal(await trimRefusals(ctx, { keptMax: 10 }), 2)
    assert.deepEqual(await list(busy), kept)
    const counts = await Promise.all([{ ...busy, mode: 'live' as const }, quiet, before].map(list))
    assert.deepEqual(
      counts.map(({ length }) => length),
      [3, 10, 12],
    )
    assert.equal(await trimRefusals(ctx, { keptMax: 10 }), 0)
  })

  test('the bytes of each workspace and mode have a budget: the oldest refusals go when it is full (D93)', async () => {
    const [seeded, other] = [await seed(ctx), await seed(ctx)]
    for (const memo of ['1', '2', '3', '4']) {
      await refuse(seeded, { amountUsdc: '11', memo })
      await refuse(other, { amountUsdc: '11', memo })
    }
    const kept = await listKept(seeded, 4)
    await listKept(other, 4)
    const used = await readUsed(seeded)
    assert.ok(used > 4 * 200 && used < 4 * 1_000, String(used))
    // As if the rest of the budget were used by refusals that are newer than these.
    const full = DROPPED_BYTES_MAX.refusals - 1
    await readRows(ctx.db, `update stored_bytes set used_bytes = $2 where workspace_id = $1 and kind = 'refusals'`, [
      seeded.workspace.id,
      full,
    ])
    await refuse(seeded, { amountUsdc: '11', memo: 'n'.repeat(200) })
    const left = await waitFor('the new refusal', async () => {
      const found = await list(seeded)
      return found[0]?.memo?.startsWith('n') === true && found
    })
    // The new refusal is longer than one of the oldest, and not longer than two.
    assert.deepEqual(left.slice(1), kept.slice(0, 2))
    const now = await readUsed(seeded)
    assert.ok(now <= DROPPED_BYTES_MAX.refusals && now > DROPPED_BYTES_MAX.refusals - 1_000, String(now))
    assert.equal((await list(other)).length, 4)
  })

  test('refusals that are deleted give back their bytes', async () => {
    const [old, busy] = [await seed(ctx), await seed(ctx)]
    for (const seeded of [old, busy, busy, busy]) await refuse(seeded, { amountUsdc: '11' })
    await listKept(old, 1)
    await listKept(busy, 3)
    const used = await readUsed(busy)
    await trimRefusals(ctx, { keptMax: 1 })
    assert.equal((await readUsed(busy)) * 3, used)
    await cleanUpOnce(later(ctx, REFUSAL_RETENTION_MS + 60_000), 'refusals')
    assert.deepEqual([await readUsed(old), await readUsed(busy)], [0, 0])
  })

  test('the report of spending counts at most 10,000 refusals, because no more are kept', async () => {
    const seeded = await seed(ctx)
    await seedRefusals(seeded, REFUSALS_KEPT_MAX + 3)
    const period = { name: 'this_month', days: null, zone: 'UTC' } as const
    const place = { workspaceId: seeded.workspace.id, mode: seeded.mode, period, by: 'agent', agentId: null } as const
    assert.equal((await getSpending(ctx, place)).counts.refused, 10_000)
    assert.equal(await trimRefusals(ctx), 3)
    assert.equal(await trimRefusals(ctx), 0)
    assert.equal((await getSpending(ctx, place)).counts.refused, 10_000)
  })

  async function refuse(seeded: Seed, changes: Partial<PaymentRequest>) {
    const outcome = await createPayment(ctx, paymentRequest(seeded, changes))
    assert.ok(outcome.kind === 'refused')
    return outcome.refusal
  }

  async function find({ workspace, mode }: Seed, filter: RefusalFilter): Promise<readonly ListedRefusal[]> {
    const request = { workspaceId: workspace.id, mode, filter, isGrouped: true, before: null, limit: 50 } as const
    return (await listRefusals(ctx, request)).items
  }

  async function list({ workspace, mode }: Seed): Promise<readonly PaymentRefusal[]> {
    const { items } = await listRefusals(ctx, { workspaceId: workspace.id, mode, before: null, limit: 50 })
    return items.map(({ times: _times, firstAt: _firstAt, ...refusal }) => refusal)
  }

  async function readUsed({ workspace }: Seed): Promise<number> {
    const text = `select used_bytes from stored_bytes where workspace_id = $1 and kind = 'refusals'`
    const [row] = await readRows(ctx.db, text, [workspace.id])
    return Number(row?.['used_bytes'])
  }

  /** Waits until the given number of refusals is stored, and returns all of them. */
  async function listKept(seeded: Seed, count: number): Promise<readonly PaymentRefusal[]> {
    const kept = await waitFor(`${count} refusals`, async () => {
      const found = await list(seeded)
      return found.length >= count && found
    })
    assert.equal(kept.length, count)
    return kept
  }

  /** Stores `count` refusals that are one millisecond apart. The newest has the time `now`. */
  async function seedRefusals({ workspace, mode }: Seed, count: number, now = given.clock.now()): Promise<void> {
    const times = Array.from({ length: count }, (_, index) => new Date(now.getTime() - index))
    const ids = times.map((time) => createId('refusal', time))
    await readRows(
      ctx.db,
      `insert into payment_refusals (workspace_id, mode, id, agent_id, wallet_address, to_address, amount_usdc, code, details,
          created_at)
        select $1, $2, t.id, 'bot', '0x1', '0x2', '1', 'agent_not_found', '{}', t.at
        from unnest($3::text[], $4::timestamptz[]) as t (id, at)`,
      [workspace.id, mode, ids, times],
    )
  }
})
