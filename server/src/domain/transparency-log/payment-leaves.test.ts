import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { hold } from '../../../../test/support/database/hold-table.ts'
import { hashText, logAll, readLeaves, type StoredLeaf } from '../../../../test/support/context/log-leaves.ts'
import { seedPayment } from '../../../../test/support/context/payment-rows.ts'
import { paymentRequest, RECIPIENT, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { suspendGrant } from '../grants/suspend-grant.ts'
import { createPayment } from '../payment-requests/create-payment.ts'

describe('the leaves of payments', () => {
  let given: TestContext
  let ctx: Context
  let seeded: Seed
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  beforeEach(async () => {
    seeded = await seed(ctx)
  })
  after(() => given.close())

  test('a payment has one leaf with what was decided, and one with its end', async () => {
    const request = paymentRequest(seeded, {
      amountUsdc: '1.50',
      memo: 'for Ada',
      credentialId: 'key_1',
      requestId: 'req_1',
    })
    const outcome = await createPayment(ctx, { ...request, idempotencyKey: 'order-7' })
    assert.ok('payment' in outcome)
    const { id } = outcome.payment
    const [leaf, ...more] = await leavesOf(id)
    assert.deepEqual(more, [])
    const { at, salt, memo_hash: memoHash, idempotency_key_hash: keyHash, ...members } = leaf?.members ?? {}
    assert.equal(at, outcome.payment.createdAt.toISOString())
    assert.deepEqual(
      [memoHash, keyHash],
      [hashText(salt, 'memo', 'for Ada'), hashText(salt, 'idempotency_key', 'order-7')],
    )
    assert.deepEqual(members, {
      ...{ v: 1, type: 'payment.decided', workspace: seeded.workspace.id, mode: 'test', subject: id, kind: 'transfer' },
      ...{ wallet: seeded.wallet, agent: seeded.agentId, grant: seeded.grant.id, to: RECIPIENT, amount: '1500000' },
      ...{ max_per_payment: '10000000', cap_24h: '100000000', spent_24h: '0' },
      ...{ credential: 'key_1', request: 'req_1', nonce: null, valid_before: null, recovered_at: null },
    })
  })

  test('the end says what the chain has shown, or why the payment failed', async () => {
    const confirmed = await seedPayment(ctx, seeded, { status: 'confirmed', minedBlock: 7n, logIndex: 3n })
    const failed = await seedPayment(ctx, seeded, { status: 'failed', failureCode: 'reverted' })
    const [, won] = await leavesOf(confirmed.id)
    const [, lost] = await leavesOf(failed.id)
    const { salt, ...members } = won?.members ?? {}
    assert.equal(typeof salt, 'string')
    assert.deepEqual(members, {
      ...{ v: 1, type: 'payment.ended', workspace: seeded.workspace.id, mode: 'test', subject: confirmed.id },
      ...{ at: confirmed.settledAt?.toISOString(), status: 'confirmed', failure_code: null, tx_hash: confirmed.txHash },
      ...{ log_index: '3', block: '7', block_hash: '0x1' },
    })
    const named = ['status', 'failure_code', 'log_index', 'block'].map((name) => lost?.members[name])
    assert.deepEqual(named, ['failed', 'reverted', null, null])
  })

  test('a withdrawal has no agent, no grant and no limits, and a purchase has its authorization', async () => {
    const withdrawal = await seedPayment(ctx, seeded, { kind: 'withdrawal' })
    const purchase = await seedPayment(ctx, seeded, { kind: 'x402', firstBlock: 1n })
    const [paidOut] = await leavesOf(withdrawal.id)
    const [bought] = await leavesOf(purchase.id)
    for (const member of ['agent', 'grant', 'max_per_payment', 'cap_24h', 'spent_24h', 'credential', 'nonce']) {
      assert.equal(paidOut?.members[member], null, member)
    }
    assert.deepEqual(
      [bought?.members['nonce'], bought?.members['valid_before']],
      [purchase.authorization?.nonce, purchase.authorization?.validBefore.toISOString()],
    )
  })

  test('the leaf of a suspension comes after that of a payment for which it had to wait', async () => {
    await openConnections(ctx.db)
    // The payment has locked its grant, and waits before it is inserted. So the suspension waits for the payment.
    const release = await hold(ctx.db, {
      name: '',
      text: 'lock table payments in share mode',
      values: [],
      read: () => null,
    })
    const paid = createPayment(ctx, paymentRequest(seeded))
    await waitFor('the payment', async () => (await countWaiting()) === 1)
    const { workspace, grant } = seeded
    const suspended = suspendGrant(ctx, { workspaceId: workspace.id, grantId: grant.id, actor: OPERATOR })
    await waitFor('the suspension', async () => (await countWaiting()) === 2)
    await release()
    const [outcome] = await Promise.all([paid, suspended])
    assert.ok('payment' in outcome)
    await logAll(ctx)
    const leaves = (await readLeaves(ctx.db)).filter(({ logId }) => logId === workspace.id)
    assert.deepEqual(
      leaves.slice(-2).map(({ members }) => members['action'] ?? members['subject']),
      [outcome.payment.id, 'grant.suspended'],
    )
  })

  async function leavesOf(paymentId: string): Promise<StoredLeaf[]> {
    await logAll(ctx)
    return (await readLeaves(ctx.db)).filter(({ subject }) => subject === paymentId)
  }

  /** Counts the connections to this database that wait for a lock. */
  async function countWaiting(): Promise<number> {
    const text = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await readRows(ctx.db, text)).length
  }
})
