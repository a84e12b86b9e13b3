import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { address, agent, paymentRequest, RECIPIENT, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { suspendGrant } from '../grants/suspend-grant.ts'
import { monthOf } from '../plans/plan.ts'
import { setAllowance } from '../plans/plans-store.ts'
import { createPayment } from './create-payment.ts'
import type { PaymentRequest } from './payment-request.ts'
import { previewPayment } from './preview-payment.ts'

const RUNS = 120

interface Request {
  readonly seeded: Seed
  readonly amountUsdc: string
  readonly changes: Partial<PaymentRequest>
}

const STRANGER = address(`0x${'6'.repeat(40)}`)
/** The tables that a payment writes. */
const TABLES = ['payments', 'payment_refusals', 'events', 'allowances']

describe('previewPayment', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('a preview and the payment of the same request at that moment have the same result (D55)', async () => {
    const seeds = await seedCases()
    const requests = fc.record<Request>({
      seeded: fc.constantFrom(...seeds),
      amountUsdc: fc.constantFrom('0.5', '1', '3', '4.999999', '5', '5.000001', '25'),
      changes: fc.oneof(
        { weight: 6, arbitrary: fc.constant({}) },
        fc.constantFrom<Partial<PaymentRequest>>(
          { agentId: agent('nobody') },
          { wallet: STRANGER },
          { to: STRANGER },
          { boundAgentId: 'another-agent' },
          { idempotencyKey: 'one' },
          { idempotencyKey: 'two' },
          { idempotencyKey: 'one', boundAgentId: 'another-agent' },
        ),
      ),
    })
    const results = new Set<string>()
    const [limited, , , expired, , poor] = seeds
    assert.ok(limited !== undefined && expired !== undefined && poor !== undefined)
    const example = (seeded: Seed, amountUsdc: string): [Request] => [{ seeded, amountUsdc, changes: {} }]
    await fc.assert(
      fc.asyncProperty(requests, async ({ seeded, amountUsdc, changes }) => {
        const request = paymentRequest(seeded, { ...changes, amountUsdc })
        const preview = await previewPayment(given.context, request)
        const outcome = await createPayment(given.context, request)
        const name = outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind
        results.add(name)
        if (preview.kind === 'refused') {
          assert.deepEqual(outcome, { kind: 'refused', refusal: preview.refusal })
        } else if (preview.kind === 'existing') {
          assert.deepEqual(
            [outcome.kind, preview.payment.id],
            ['replayed', outcome.kind === 'replayed' && outcome.payment.id],
          )
        } else {
          assert.ok(outcome.kind === 'created', name)
          assert.deepEqual(
            [outcome.payment.grantId, outcome.payment.amountMicro],
            [preview.grant.grantId, preview.amountMicro],
          )
        }
      }),
      {
        numRuns: RUNS,
        // These examples run first, so each of the results below occurs, whatever the random requests are.
        examples: [
          ...[example(poor, '5'), example(poor, '3'), example(expired, '1'), example(limited, '5.000001')],
          ...Array.from({ length: 5 }, () => example(limited, '5')),
        ],
      },
    )
    for (const result of [
      'created',
      'amount_too_large',
      'daily_cap_exceeded',
      'insufficient_balance',
      'permission_expired',
    ])
      assert.ok(results.has(result), `${result} did not occur: ${[...results].join(', ')}`)
  })

  test('a preview writes nothing, whatever its result', async () => {
    const seeds = await seedCases()
    const before = await countRows(seeds)
    for (const seeded of seeds) {
      for (const amountUsdc of ['1', '1000']) {
        await previewPayment(given.context, paymentRequest(seeded, { amountUsdc, idempotencyKey: 'k' }))
      }
    }
    // Refusals are written later, in the order in which they occur. So if a preview had caused a refusal, it would be
    // stored before this last one.
    const last = await seed(given.context)
    await createPayment(given.context, paymentRequest(last, { amountUsdc: '1000' }))
    await waitFor('the last refusal', async () => (await countRows([last])) !== (await countRows([])))
    assert.deepEqual(await countRows(seeds), before)
  })

  test('a preview does not wait for a payment that holds the locks of the wallet and the grant', async () => {
    const seeded = await seed(given.context)
    await given.context.db.transaction(async (transaction) => {
      await transaction.run({
        name: '',
        text: 'select 1 from wallets w, grants g where w.address = $1 and g.id = $2 for update of w, g',
        values: [seeded.wallet, seeded.grant.id],
        read: () => null,
      })
      assert.equal((await previewPayment(given.context, paymentRequest(seeded))).kind, 'allowed')
    })
  })

  test('if the chain cannot be read, a preview still makes the other checks', async () => {
    const seeded = await seed(given.context)
    given.chains.test.down = true
    try {
      const refused = await previewPayment(given.context, paymentRequest(seeded, { amountUsdc: '11' }))
      assert.ok(refused.kind === 'refused' && refused.refusal.code === 'amount_too_large')
      await assert.rejects(previewPayment(given.context, paymentRequest(seeded)), { name: 'ChainUnavailable' })
    } finally {
      given.chains.test.down = false
    }
  })

  /** Creates workspaces whose grants, balances and plans together lead to each possible result. */
  async function seedCases(): Promise<Seed[]> {
    const ctx = given.context
    const limited = await seed(ctx, { maxPerTx: '5', dailyCap: '20' })
    const listed = await seed(ctx, { recipients: [RECIPIENT] })
    const expired = await seed(ctx, { expiresAt: new Date(given.clock.now().getTime() - 1) })
    const contract = await seed(ctx, { contracts: [STRANGER] })
    const poor = await seed(ctx)
    given.chains.test.balances.set(poor.wallet.toLowerCase(), 7_000_000n)
    const suspended = await seed(ctx)
    await suspendGrant(ctx, { workspaceId: suspended.workspace.id, grantId: suspended.grant.id, actor: OPERATOR })
    const live = await seed(ctx, { mode: 'live' })
    await ctx.db.write(setAllowance(live.workspace.id, monthOf(given.clock.now()), 998))
    const fresh = await seed(ctx, { mode: 'live' })
    return [limited, limited, listed, expired, contract, poor, suspended, live, fresh]
  }

  async function countRows(seeds: readonly Seed[]): Promise<string> {
    const counts = TABLES.map((table) => `(select count(*) from ${table} where workspace_id = any($1)) as ${table}`)
    const ids = seeds.map(({ workspace }) => workspace.id)
    return JSON.stringify(await readRows(given.context.db, `select ${counts.join(', ')}`, [ids]))
  }
})
