import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { later } from '../../../../../test/support/moved-clock.ts'
import { readRows } from '../../../../../test/support/read-rows.ts'
import { agent, paymentRequest, RECIPIENT, seed, type Seed } from '../../../../../test/support/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/test-context.ts'
import type { Context } from '../../context.ts'
import type { PaymentRequest } from '../admission/reserve-payment.ts'
import { createPayment } from '../create-payment.ts'
import { cleanUpRefusals } from './clean-up-refusals.ts'
import { getRefusal } from './get-refusal.ts'
import { listRefusals } from './list-refusals.ts'
import { REFUSAL_RETENTION_MS, type PaymentRefusal } from './refusal.ts'

describe('refusals of payments', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a refusal is kept with what was asked for, and why it was refused', async () => {
    const seeded = await seed(ctx)
    const request = { amountUsdc: '10.5', memo: 'lunch', idempotencyKey: 'k', credentialId: 'key_1' }
    const outcome = await refuse(seeded, request)
    const [kept] = await list(seeded)
    assert.deepEqual(kept, {
      accountId: seeded.account.id,
      id: kept?.id,
      mode: 'test',
      credentialId: 'key_1',
      agentId: seeded.agentId,
      wallet: seeded.wallet,
      to: RECIPIENT,
      amountUsdc: '10.5',
      memo: 'lunch',
      idempotencyKey: 'k',
      code: 'amount_too_large',
      details: { max_per_tx_usdc: '10', requested: '10.5' },
      createdAt: kept?.createdAt,
    })
    assert.match(kept?.id ?? '', /^ref_[0-9A-HJKMNP-TV-Z]{26}$/)
    assert.deepEqual({ code: kept?.code, details: kept?.details }, outcome)
    assert.deepEqual(await getRefusal(ctx, { accountId: seeded.account.id, mode: 'test', id: kept?.id ?? '' }), kept)
  })

  test('whatever is refused is kept, also where there is no such agent or wallet', async () => {
    const seeded = await seed(ctx)
    given.chains.test.balances.set(seeded.wallet.toLowerCase(), 0n)
    await refuse(seeded, { agentId: agent('nobody') })
    await refuse(seeded, { wallet: RECIPIENT })
    await refuse(seeded, {})
    const codes = (await list(seeded)).map(({ code }) => code)
    assert.deepEqual(codes.toSorted(), ['agent_not_found', 'insufficient_balance', 'wallet_not_found'])
  })

  test('a payment that is made or replayed leaves none', async () => {
    const seeded = await seed(ctx)
    for (const kind of ['created', 'replayed']) {
      assert.equal((await createPayment(ctx, paymentRequest(seeded, { idempotencyKey: 'k' }))).kind, kind)
    }
    assert.deepEqual(await list(seeded), [])
  })

  test('the answer is the same when it can not be kept', async () => {
    const seeded = await seed(ctx)
    await readRows(ctx.db, 'alter table payment_refusals rename to away')
    try {
      assert.equal((await refuse(seeded, { amountUsdc: '11' })).code, 'amount_too_large')
    } finally {
      await readRows(ctx.db, 'alter table away rename to payment_refusals')
    }
    assert.deepEqual(await list(seeded), [])
  })

  test('the list is the newest first, of one mode, of one agent where one is named, page by page', async () => {
    const seeded = await seed(ctx)
    for (const agentId of ['first', 'second', 'first', 'first']) await refuse(seeded, { agentId: agent(agentId) })
    await refuse(seeded, { agentId: agent('first'), mode: 'live' })
    const all = await list(seeded)
    assert.deepEqual(
      all.map(({ id }) => id),
      all.map(({ id }) => id).toSorted((left, right) => (left < right ? 1 : -1)),
    )
    const agents = all.map(({ agentId }) => agentId)
    assert.deepEqual(agents.toSorted(), ['first', 'first', 'first', 'second'])
    const request = { accountId: seeded.account.id, mode: 'test', agentId: 'first', limit: 2 } as const
    const page = await listRefusals(ctx, { ...request, before: null })
    const rest = await listRefusals(ctx, { ...request, before: page.next })
    assert.deepEqual([page.items.length, page.next, rest.next], [2, page.items[1]?.id, null])
    const ofFirst = all.filter(({ agentId }) => agentId === 'first')
    assert.deepEqual([...page.items, ...rest.items], ofFirst)
  })

  test('one is not to be had in another workspace or mode, nor by what is no id', async () => {
    const [seeded, other] = [await seed(ctx), await seed(ctx)]
    await refuse(seeded, { amountUsdc: '11' })
    const id = (await list(seeded))[0]?.id ?? ''
    const places = [
      { accountId: other.account.id, mode: 'test', id },
      { accountId: seeded.account.id, mode: 'live', id },
      { accountId: seeded.account.id, mode: 'test', id: `${id}x` },
      { accountId: seeded.account.id, mode: 'test', id: '' },
    ] as const
    for (const place of places) await assert.rejects(getRefusal(ctx, place), { type: 'not_found' })
  })

  test('they are deleted 30 days later, and not before', async () => {
    const seeded = await seed(ctx)
    await refuse(seeded, { amountUsdc: '11' })
    await cleanUpRefusals(later(ctx, REFUSAL_RETENTION_MS - 60_000))
    assert.equal((await list(seeded)).length, 1)
    assert.ok((await cleanUpRefusals(later(ctx, REFUSAL_RETENTION_MS + 60_000))) >= 1)
    assert.deepEqual(await list(seeded), [])
    assert.equal(await cleanUpRefusals(later(ctx, REFUSAL_RETENTION_MS + 60_000)), 0)
  })

  async function refuse(seeded: Seed, changes: Partial<PaymentRequest>) {
    const outcome = await createPayment(ctx, paymentRequest(seeded, changes))
    assert.ok(outcome.kind === 'refused')
    return outcome.refusal
  }

  async function list({ account }: Seed): Promise<readonly PaymentRefusal[]> {
    const request = { accountId: account.id, mode: 'test', agentId: null, before: null, limit: 50 } as const
    return (await listRefusals(ctx, request)).items
  }
})
