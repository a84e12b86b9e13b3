import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { expectPayment, expectRefusal } from '../../../../test/support/context/expect-outcome.ts'
import { paymentRequest, seed, seedGrant, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { createId } from '../../values/ids.ts'
import { microUsdc } from '../../values/money.ts'
import { endUnenforced, insertGrant, markActive, markGrantRevoked } from '../grants/grants-store.ts'
import { createPayment, type PaymentOutcome } from './create-payment.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe('the limits of a payment', () => {
  let given: TestContext
  let start: number
  before(async () => {
    given = await openTestContext()
  })
  beforeEach(() => {
    // Set our clock ahead of the enclave's, so that no request expires before it arrives.
    start = Date.now() + HOUR_MS
    given.enclave.behave = () => 'sign'
  })
  after(() => given.close())

  test('a total exactly at the cap is allowed, but not one micro-USDC more', async () => {
    const seeded = await seed(given.context, { dailyCap: '10' })
    expectPayment(await pay(seeded, '9.999999'))
    const refusal = expectRefusal(await pay(seeded, '0.000002'), 'daily_cap_exceeded')
    assert.deepEqual(refusal.details, {
      daily_cap_usdc: '10',
      spent_24h_usdc: '9.999999',
      remaining_24h_usdc: '0.000001',
      requested: '0.000002',
      resets_at: new Date(start + DAY_MS).toISOString(),
    })
    expectPayment(await pay(seeded, '0.000001'))
    expectRefusal(await pay(seeded, '0.000001'), 'daily_cap_exceeded')
  })

  test('a payment no longer counts towards the cap exactly 24 hours after it was created', async () => {
    const seeded = await seed(given.context, { dailyCap: '10' })
    expectPayment(await pay(seeded, '10'))
    expectRefusal(await pay(seeded, '0.000001', DAY_MS - 1), 'daily_cap_exceeded')
    expectPayment(await pay(seeded, '10', DAY_MS))
  })

  test('at resets_at, and not a moment earlier, the requested amount fits under the cap again', async () => {
    const seeded = await seed(given.context, { dailyCap: '10', maxPerTx: '50' })
    await pay(seeded, '3')
    await pay(seeded, '4', HOUR_MS)
    await pay(seeded, '3', 2 * HOUR_MS)
    const resets: readonly (readonly [string, number | null])[] = [
      ['3', DAY_MS],
      ['3.000001', DAY_MS + HOUR_MS],
      ['7', DAY_MS + HOUR_MS],
      ['7.000001', DAY_MS + 2 * HOUR_MS],
      ['10', DAY_MS + 2 * HOUR_MS],
      ['10.000001', null],
    ]
    for (const [amount, after] of resets) {
      const { details } = expectRefusal(await pay(seeded, amount, 3 * HOUR_MS), 'daily_cap_exceeded')
      const expected = after === null ? null : new Date(start + after).toISOString()
      assert.equal(details.resets_at, expected, amount)
    }
    expectRefusal(await pay(seeded, '5', DAY_MS + HOUR_MS - 1), 'daily_cap_exceeded')
    expectPayment(await pay(seeded, '5', DAY_MS + HOUR_MS))
  })

  test('a failed payment no longer counts against the cap', async () => {
    const seeded = await seed(given.context, { dailyCap: '10' })
    given.enclave.behave = () => 'reject'
    assert.equal(expectPayment(await pay(seeded, '10')).status, 'failed')
    given.enclave.behave = () => 'sign'
    assert.equal(expectPayment(await pay(seeded, '10')).status, 'pending')
    expectRefusal(await pay(seeded, '0.000001'), 'daily_cap_exceeded')
  })

  test('a new grant does not reset what the agent has spent (D16)', async () => {
    const seeded = await seed(given.context, { dailyCap: '10' })
    await pay(seeded, '6')
    await given.context.db.write(markGrantRevoked(seeded.workspace.id, seeded.grant.id, new Date(start)))
    expectRefusal(await pay(seeded, '1'), 'permission_not_found')
    await seedGrant(given.context, seeded, { dailyCap: '8' })
    expectRefusal(await pay(seeded, '2.000001'), 'daily_cap_exceeded')
    expectPayment(await pay(seeded, '2'))
  })

  test('if the grant is replaced while a payment waits for the lock, the new grant decides (D14)', async () => {
    const { db } = given.context
    const seeded = await seed(given.context, { maxPerTx: '10', dailyCap: '10' })
    const { workspace, grant } = seeded
    const next = { ...grant, id: createId('grant', new Date(start)), status: 'pending', replaces: grant.id } as const
    await db.write(insertGrant({ ...next, maxPerTxMicro: microUsdc(2_000_000n) }))
    const paid: Promise<PaymentOutcome>[] = []
    await db.transaction(async (transaction) => {
      const now = new Date(start)
      await transaction.batch([
        endUnenforced(next, { enforced: [next.id], replacedBy: next.id, now }),
        markActive(workspace.id, next.id, now),
      ])
      // One process lets only one payment of a wallet wait for the lock, so another process makes the second payment.
      for (const [amount, ctx] of [
        ['2', given.context],
        ['2.000001', given.openAnother()],
      ] as const) {
        paid.push(pay(seeded, amount, 0, ctx))
      }
      await waitFor('both wait for the lock', async () => (await countWaiting()) === 2)
    })
    const [within, above] = await Promise.all(paid)
    assert.ok(within !== undefined && above !== undefined)
    assert.equal(expectPayment(within).grantId, next.id)
    expectRefusal(above, 'amount_too_large')
  })

  test('spending is counted for each agent and wallet: the same agent has a separate sum for another wallet', async () => {
    const seeded = await seed(given.context, { dailyCap: '10' })
    await pay(seeded, '10')
    const wallet = await seedWallet(given.context, seeded)
    await seedGrant(given.context, { ...seeded, wallet }, { dailyCap: '10' })
    expectPayment(await pay({ ...seeded, wallet }, '10'))
  })

  test('pending payments are subtracted from the balance, exact to the micro-USDC', async () => {
    const seeded = await seed(given.context)
    setBalance(seeded, 10_000_000n)
    await pay(seeded, '6')
    const refusal = expectRefusal(await pay(seeded, '4.000001'), 'insufficient_balance')
    assert.deepEqual(refusal.details, { balance_usdc: '10', pending_usdc: '6', requested: '4.000001' })
    expectPayment(await pay(seeded, '4'))
    expectRefusal(await pay(seeded, '0.000001'), 'insufficient_balance')
  })

  test('a deposit counts at once, even if the balance was read less than a second ago', async () => {
    const seeded = await seed(given.context)
    setBalance(seeded, 0n)
    expectRefusal(await pay(seeded, '5'), 'insufficient_balance')
    setBalance(seeded, 5_000_000n)
    expectPayment(await pay(seeded, '5'))
  })

  test('a payment that is mined but not settled yet is not counted twice', async () => {
    const seeded = await seed(given.context)
    setBalance(seeded, 10_000_000n)
    const payment = expectPayment(await pay(seeded, '6'))
    const chain = given.chains.test
    chain.head += 1n
    chain.receipts.set(payment.txHash ?? '', {
      contract: given.config.chains.test.usdc,
      from: seeded.wallet,
      to: payment.to,
      amountMicro: payment.amountMicro,
      blockNumber: chain.head,
    })
    setBalance(seeded, 4_000_000n)
    // Five seconds later, the balance is read again, and the new balance already reflects the payment.
    given.clock.setOffset(5_000)
    expectRefusal(await pay(seeded, '4.000001'), 'insufficient_balance')
    expectPayment(await pay(seeded, '4'))
    given.clock.setOffset(0)
  })

  test('a payment that has been pending for 24 hours no longer reserves balance (D24a)', async () => {
    const seeded = await seed(given.context)
    setBalance(seeded, 10_000_000n)
    await pay(seeded, '6')
    expectRefusal(await pay(seeded, '4.000001', DAY_MS - 1), 'insufficient_balance')
    expectPayment(await pay(seeded, '10', DAY_MS))
  })

  test('a failed payment no longer counts against the balance', async () => {
    const seeded = await seed(given.context)
    setBalance(seeded, 5_000_000n)
    given.enclave.behave = () => 'reject'
    await pay(seeded, '5')
    given.enclave.behave = () => 'sign'
    expectPayment(await pay(seeded, '5'))
  })

  test('a grant can be used until just before the second in which it expires', async () => {
    const afterMs = HOUR_MS - (start % 1_000)
    const seeded = await seed(given.context, { expiresAt: new Date(start + afterMs + 900) })
    expectPayment(await pay(seeded, '1', afterMs - 1))
    expectRefusal(await pay(seeded, '1', afterMs), 'permission_expired')
  })

  async function countWaiting(): Promise<number> {
    const text = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await readRows(given.context.db, text)).length
  }

  function pay(seeded: Seed, amountUsdc: string, afterMs = 0, ctx = given.context): Promise<PaymentOutcome> {
    const at = { ...ctx, clock: { now: () => new Date(start + afterMs) } }
    return createPayment(at, paymentRequest(seeded, { amountUsdc }))
  }

  function setBalance(seeded: Seed, balanceMicro: bigint): void {
    given.chains.test.balances.set(seeded.wallet.toLowerCase(), balanceMicro)
  }
})
