import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { seedPayment } from '../../../test/support/context/payment-rows.ts'
import { seed, type Seed } from '../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { listEventTypes, readRows } from '../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { getPayment } from '../domain/payments/get-payment.ts'
import type { Payment } from '../domain/payments/payment.ts'
import type { Loop } from '../lib/loop.ts'
import { watchAuthorizations } from './watch-authorizations.ts'

/** The lease is renewed after less than this time. */
const RENEWAL_MS = 10_000

describe('the watcher of authorizations', () => {
  let given: TestContext
  let seeded: Seed
  const loops: Loop[] = []
  before(async () => {
    given = await openTestContext()
  })
  afterEach(async () => {
    await Promise.all(loops.splice(0).map((loop) => loop.stop()))
    given.chains.test.down = false
    given.clock.setOffset(0)
    await readRows(given.context.db, `update payments set next_lookup_at = 'infinity'`)
  })
  after(() => given.close())

  test('two processes end many purchases, each once and with its event', async () => {
    const purchases = await openMany(230)
    for (const purchase of purchases) use(purchase)
    start(given.context)
    start(given.openAnother())
    await waitFor('all purchases are confirmed', async () => {
      const [row] = await readRows(
        given.context.db,
        `select count(*)::integer as pending from payments where workspace_id = $1 and status = 'pending'`,
        [seeded.workspace.id],
      )
      return row?.['pending'] === 0
    })
    const types = await listEventTypes(given.context.db, seeded.workspace.id)
    assert.deepEqual(
      types,
      purchases.map(() => 'payment.confirmed'),
    )
  })

  test('while a node is down, purchases are postponed; afterwards they end', async () => {
    const [purchase] = await openMany(1)
    assert.ok(purchase)
    use(purchase)
    given.chains.test.down = true
    start(given.context)
    await waitFor('the purchase was looked at', async () => (await getPayment(given.context, purchase)).lookups > 0)
    assert.equal((await getPayment(given.context, purchase)).status, 'pending')
    given.chains.test.down = false
    await waitFor(
      'the purchase is confirmed',
      async () => (await getPayment(given.context, purchase)).status === 'confirmed',
    )
  })

  test('no node is called while no purchase is due', async () => {
    await openMany(1)
    await readRows(given.context.db, `update payments set next_lookup_at = 'infinity' where kind = 'x402'`)
    const { calls } = given.chains.test
    const taken = async (): Promise<unknown> =>
      (await readRows(given.context.db, `select expires_at from leases where name = 'authorizations:test'`))[0]
    start(given.context)
    const first = await waitFor('the first round', taken)
    // The lease is renewed in a later round, when a part of its time has passed.
    given.clock.setOffset(RENEWAL_MS)
    await waitFor('a later round', async () => JSON.stringify(await taken()) !== JSON.stringify(first))
    assert.equal(given.chains.test.calls, calls)
  })

  /** Reserves purchases that are due for their first look, in a new workspace. */
  async function openMany(count: number): Promise<Payment[]> {
    seeded = await seed(given.context)
    const at = new Date(given.clock.now().getTime() - 2_000)
    const purchases: Payment[] = []
    for (let index = 0; index < count; index += 1) {
      purchases.push(await seedPayment(given.context, seeded, { kind: 'x402', firstBlock: 90n, at }))
    }
    return purchases
  }

  function use({ walletAddress: from, to, amountMicro, authorization }: Payment): void {
    assert.ok(authorization)
    const { receipts } = given.chains.test
    const transfer = { contract: given.context.chains.test.usdc, from, to, amountMicro }
    const hash = `0x${(receipts.size + 1).toString(16).padStart(64, '0')}`
    receipts.set(hash, { ...transfer, authorization: authorization.nonce, blockNumber: 95n })
  }

  function start(context: TestContext['context']): void {
    loops.push(watchAuthorizations(context, { mode: 'test', holder: randomUUID() }))
  }
})
