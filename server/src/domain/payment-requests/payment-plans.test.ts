import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import type { Query } from '../../db/query.ts'
import { parseAddress, type Address } from '../../values/address.ts'
import type { Payment, TxHash } from '../payments/payment.ts'
import { markManyAccepted } from '../payments/acceptances-store.ts'
import { noteReason, claimAttempt } from '../payments/payments-store.ts'
import { listAwaitingChainOfWallet, sumUnmined } from '../payments/pending-store.ts'
import { countEqualPayments } from '../payments/lookups/lookups-store.ts'
import { listAwaitingChain, listDueForLookup } from '../reconciliation/reconciliation-store.ts'
import { readFacts, readFactsOfMany } from './admission-store.ts'
import { findSimilarPayment, findSimilarPending } from './earlier-payments-store.ts'

const SETTLED = 1_000_000
const ACCOUNTS = 200
/** The number of pending payments of all other workspaces. They are created after the table was analyzed. */
const OTHERS_PENDING = 20_000
/** The number of the paying wallet's pending payments that reserve balance. */
const OWN_PENDING = 5
/** The number of the paying wallet's payments that have been pending too long to reserve balance. */
const STUCK = 300
const DAY_MS = 24 * 60 * 60 * 1_000
/**
 * How many accounts have a payment with the same hash at most. Every batch of rows that this test inserts numbers its
 * hashes from one, so hashes repeat.
 */
const ACCOUNTS_SHARING_A_HASH_MAX = 7
/** How many database pages the three sums may read together at most, including the levels of their indexes. */
const PAGES_MAX = 60
const NOW = new Date('2026-06-01T12:00:00Z')
const BALANCE_BLOCK = 1_000_000n
/** The number of pending payments that are due for a look-up. One in four has no hash yet. */
const DUE = 500
const WITHOUT_HASH_EVERY = 4
/** How many payments the reconciler lists at once. */
const LOOKED_UP = 20
/** How many payments the watcher lists at once. */
const WATCHED = 500
const ACCOUNT_KINDS = ['seen by the analysis', 'new since the analysis'] as const
const PLAN_MODES = ['force_generic_plan', 'force_custom_plan'] as const

/** The parts of a node of `explain (format json)` that this test uses. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

describe('the query plans of statements about pending payments, among a million payments', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
    await fill()
  })
  after(() => given.close())

  for (const account of ACCOUNT_KINDS) {
    for (const mode of PLAN_MODES) {
      test(`the facts for a decision: in a workspace ${account}, only its own payments are read (${mode})`, async () => {
        const { accountId, wallet } = await partiesOf(account)
        const windowStart = new Date(NOW.getTime() - DAY_MS)
        const parties = { accountId, mode: 'test', agentId: 'agent', wallet } as const
        const facts = readFacts(parties, { now: NOW, windowStart, balanceBlock: BALANCE_BLOCK })
        const { rows, plan, scans, pages } = await explain(facts, mode)
        assert.deepEqual(
          scans.map((scan) => String(scan['Index Name'])).toSorted(),
          ['payments_confirmed_by_block', 'payments_holding_balance', 'payments_in_window'],
          JSON.stringify(plan, null, 2),
        )
        const holding = scans.find((scan) => scan['Index Name'] === 'payments_holding_balance')
        assert.ok(holding !== undefined)
        assert.equal(holding['Actual Rows'], OWN_PENDING)
        assert.equal(holding['Rows Removed by Filter'] ?? 0, 0)
        assert.ok(pages <= PAGES_MAX, `${pages} pages`)
        // A payment that has been pending for more than a day reserves no balance (D24a).
        assert.equal(Number(rows[0]?.['unmined']), OWN_PENDING)
      })

      test(`the facts for a batch: in workspaces ${account} and another, only their own payments are read (${mode})`, async () => {
        const { accountId, wallet } = await partiesOf(account)
        const windowStart = new Date(NOW.getTime() - DAY_MS)
        const read = {
          mode: 'test',
          agentId: 'agent',
          idempotencyKey: 'key',
          now: NOW,
          windowStart,
          balanceBlock: BALANCE_BLOCK,
        } as const
        const parties = [{ accountId, wallet }, await partiesOf('seen by the analysis'), { accountId: 'acc_1', wallet }]
        const { rows, plan, scans, pages } = await explain(
          readFactsOfMany(parties.map((one) => ({ ...read, ...one }))),
          mode,
        )
        assert.deepEqual(
          scans.map((scan) => String(scan['Index Name'])).toSorted(),
          [
            'payments_by_idempotency_key',
            'payments_confirmed_by_block',
            'payments_holding_balance',
            'payments_in_window',
          ],
          JSON.stringify(plan, null, 2),
        )
        const holding = scans.find((scan) => scan['Index Name'] === 'payments_holding_balance')
        assert.equal(holding?.['Actual Loops'], parties.length)
        assert.ok(pages <= PAGES_MAX * parties.length, `${pages} pages`)
        assert.deepEqual(
          rows.map((row) => Number(row['unmined'])),
          [OWN_PENDING, OWN_PENDING, 0],
        )
      })

      test(`an earlier payment for the same purchase: in a workspace ${account}, only its own young payments are read (${mode})`, async () => {
        const { accountId } = await partiesOf(account)
        const purchase = { accountId, mode: 'test', agentId: 'agent', amountMicro: 1n, idempotencyKey: 'key' } as const
        const request = { ...purchase, to: walletOf('y') } as unknown as Parameters<typeof findSimilarPayment>[0]
        // No payment of the workspace is as young as `NOW`, so no row is read.
        for (const [from, rows] of [
          [new Date(0), 1],
          [NOW, 0],
        ] as const) {
          const similar = await explain(findSimilarPayment(request, from), mode)
          const [scan] = similar.scans
          // Both indexes begin with the workspace. All of its payments here are of one agent, so neither is better.
          const index = String(scan?.['Index Name'])
          assert.match(index, /^payments_(of_agent|listed)$/)
          expectReads(similar, [index], rows)
        }
        const pending = await explain(findSimilarPending(request), mode)
        expectReads(pending, ['payments_holding_balance'], OWN_PENDING + STUCK)
      })

      test(`a wallet's payments: in a workspace ${account}, only the wallet's own pending payments are read (${mode})`, async () => {
        const { accountId, wallet } = await partiesOf(account)
        const own = OWN_PENDING + STUCK
        const unmined = await explain(
          sumUnmined({ accountId, mode: 'test', wallet }, { now: NOW, balanceBlock: BALANCE_BLOCK }),
          mode,
        )
        expectReads(unmined, ['payments_confirmed_by_block', 'payments_holding_balance'], OWN_PENDING)
        const listed = await explain(listAwaitingChainOfWallet(accountId, 'test', wallet, WATCHED), mode)
        expectReads(listed, ['payments_holding_balance'], own)
        const payment = {
          accountId,
          mode: 'test',
          walletAddress: wallet,
          to: walletOf('y'),
          amountMicro: 1n,
          id: 'pay_x',
        }
        const hashes = [1, 2, 3].map((n): TxHash => `0x${n.toString(16).padStart(64, '0')}`)
        const counted = await explain(countEqualPayments(payment as unknown as Payment, hashes), mode)
        const sharing = ACCOUNTS_SHARING_A_HASH_MAX * hashes.length
        expectReads(counted, ['payments_holding_balance', 'payments_one_per_transfer_log'], own + sharing)
      })
    }
  }

  for (const mode of PLAN_MODES) {
    test(`payments that are due for a look-up: only one page is read (${mode})`, async () => {
      const due = await explain(listDueForLookup('test', NOW, LOOKED_UP), mode)
      assert.equal(due.rows.length, LOOKED_UP)
      expectReads(due, ['payments_due_for_look'], LOOKED_UP)
    })

    test(`payments that wait for the chain: only one page is read (${mode})`, async () => {
      const cursor = { createdAt: new Date(NOW.getTime() - OTHERS_PENDING / 2), id: 'pay_' } as Payment
      for (const after of [null, cursor]) {
        const listed = await explain(listAwaitingChain('test', { since: new Date(0), after, limit: WATCHED }), mode)
        assert.equal(listed.rows.length, WATCHED)
        expectReads(listed, ['payments_awaiting_chain'], WATCHED)
      }
    })

    test(`an update finds its payment by the primary key (${mode})`, async () => {
      const [row] = await readRows(
        given.context.db,
        `select account_id, id, tx_hash from payments
        where status = 'pending' and tx_hash is not null limit 1`,
      )
      const payment = { accountId: row?.['account_id'], id: row?.['id'], txHash: row?.['tx_hash'] } as Payment
      for (const update of [noteReason(payment, 'hash_unknown'), claimAttempt(payment, NOW, NOW)]) {
        expectReads(await explain(update, mode), ['payments_pkey'], 1)
      }
      const values = { transactionId: 'tx', txHash: null, userOperationHash: null }
      const accepted = { payment, accepted: values, now: NOW, nextLookupAt: NOW }
      const another = { ...accepted, payment: { ...payment, id: 'pay_none' } }
      const together = await explain(markManyAccepted([accepted, another]), mode)
      // The first scan locks the row, and the second one updates it.
      expectReads(together, ['payments_pkey', 'payments_pkey'], 2)
    })
  }

  /**
   * Analyzes the table while almost nothing is pending, as may happen in a quiet hour, and then adds many pending
   * payments.
   */
  async function fill(): Promise<void> {
    const columns = `account_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro, amount_usdc,
      status, tx_hash, created_at, max_per_tx_micro, daily_cap_micro, spent_24h_micro, attempt, mined_block,
      mined_block_hash, settled_at, next_look_at`
    const insert = (accountOf: string, from: number, count: number, settled: boolean, ageMs: string): string =>
      `insert into payments (${columns})
        select ${accountOf}, 'test', 'pay_' || lpad((${from} + n)::text, 26, '0'), 'agent',
          '${walletOf('x').slice(0, 10)}' || lpad(to_hex(abs(hashtext(${accountOf}))), 32, '0'), 'grt', '${walletOf('y')}',
          1, '0.000001', '${settled ? 'confirmed' : 'pending'}',
          ${settled ? '' : `case when n % ${WITHOUT_HASH_EVERY} <> 0 then`} '0x' || lpad(to_hex(n), 64, '0') ${settled ? '' : 'end'},
          timestamptz '${NOW.toISOString()}' - interval '1 millisecond' * (${ageMs}), 10, 1000000000, 0, 1,
          ${settled ? `n, '0x', timestamptz '${NOW.toISOString()}'` : 'null, null, null'},
          timestamptz '${NOW.toISOString()}' + interval '1 second' * (n - ${DUE})
        from generate_series(1, ${count}) as n`
    const client = new pg.Client({ connectionString: given.config.database.url })
    await client.connect()
    // Insert the rows without checks and indexes, then create these again as the migrations define them.
    const { rows: checks } = await client.query<{ name: string }>(
      `select conname as name from pg_constraint where conrelid = 'payments'::regclass and contype in ('c', 'f')`,
    )
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexname as name, indexdef as definition from pg_indexes
        where tablename = 'payments' and indexname <> 'payments_pkey'`,
    )
    for (const text of [
      'set synchronous_commit = off',
      ...checks.map(({ name }) => `alter table payments drop constraint ${name}`),
      ...indexes.map(({ name }) => `drop index ${name}`),
      // Inserting the rows takes most of this test's time, so skip the write-ahead log.
      'alter table payments set unlogged',
      `set maintenance_work_mem = '256MB'`,
      // Autovacuum must not analyze the table after the pending payments were added.
      'alter table payments set (autovacuum_enabled = false)',
      insert(`'acc_' || (n % ${ACCOUNTS})`, 0, SETTLED, true, `${2 * DAY_MS} + n * 2000.0`),
      ...indexes.map(({ definition }) => definition),
      `vacuum analyze payments`,
      insert(`'acc_' || (100 + n % 100)`, 2_000_000, OTHERS_PENDING, false, `n`),
      // A workspace whose payments were added after the analysis, so the statistics do not include them.
      insert(`'acc_new'`, 3_000_000, 10_000, true, `${2 * DAY_MS} + n * 2000.0`),
      ...[`'acc_7'`, `'acc_new'`].flatMap((account, index) => [
        insert(account, 4_000_000 + index * 1_000, OWN_PENDING, false, `n`),
        insert(account, 5_000_000 + index * 1_000, STUCK, false, `${DAY_MS} + n`),
      ]),
    ]) {
      await client.query(text)
    }
    await client.end()
  }

  async function partiesOf(account: (typeof ACCOUNT_KINDS)[number]): Promise<{ accountId: string; wallet: Address }> {
    const accountId = account === 'seen by the analysis' ? 'acc_7' : 'acc_new'
    const query = 'select wallet_address as wallet from payments where account_id = $1 limit 1'
    const [{ wallet } = {}] = await readRows(given.context.db, query, [accountId])
    return { accountId, wallet: wallet as Address }
  }

  async function explain({ text, values }: Query<unknown>, planMode: string): Promise<Explained> {
    const literals = values.map(toLiteral).join()
    const raw = (statement: string) => ({
      name: '',
      text: statement,
      values: [],
      read: (rows: readonly Record<string, unknown>[]) => rows,
    })
    return await given.context.db.transaction(async (transaction) => {
      await transaction.batch([
        raw(`set local plan_cache_mode = ${planMode}`),
        raw(`prepare statement as ${text}`),
        // The first run also marks pages that have never been read, so it is not measured.
        raw(`execute statement (${literals})`),
      ])
      const [explained] = await transaction.batch([
        raw(`explain (analyze, buffers, format json) execute statement (${literals})`),
      ] as const)
      const [rows] = await transaction.batch([raw(`execute statement (${literals})`)] as const)
      await transaction.batch([raw('deallocate statement')])
      const plan = (explained[0]?.['QUERY PLAN'] as { Plan: PlanNode }[] | undefined)?.[0]?.Plan
      assert.ok(plan !== undefined)
      return { rows, plan, scans: scansOfPayments(plan), pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] }
    })
  }
})

interface Explained {
  readonly rows: readonly Record<string, unknown>[]
  readonly plan: PlanNode
  readonly scans: readonly PlanNode[]
  readonly pages: number
}

/** Fails unless the plan uses exactly these indexes and reads at most `rowsMax` rows of payments. */
function expectReads({ plan, scans }: Explained, indexes: readonly string[], rowsMax: number): void {
  const told = JSON.stringify(plan, null, 2)
  assert.deepEqual(scans.map((scan) => String(scan['Index Name'])).toSorted(), indexes, told)
  const read = scans.reduce(
    (sum, scan) => sum + (scan['Actual Rows'] + (scan['Rows Removed by Filter'] ?? 0)) * scan['Actual Loops'],
    0,
  )
  assert.ok(read <= rowsMax, `${read} rows read, more than ${rowsMax}: ${told}`)
}

function toLiteral(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : String(value)
  if (value === null) return 'null'
  // `String` has turned an array into its items, separated by commas.
  if (!Array.isArray(value)) return `'${text}'`
  return `'{${value.map((item) => (item instanceof Date ? item.toISOString() : String(item))).join()}}'`
}

/** Returns every scan of the table of payments. The names of its indexes begin with `payments_`. */
function scansOfPayments(node: PlanNode): PlanNode[] {
  const own = node['Index Name']?.startsWith('payments_') === true || node['Node Type'] === 'Seq Scan' ? [node] : []
  return [...own, ...(node.Plans ?? []).flatMap(scansOfPayments)]
}

function walletOf(digit: 'x' | 'y'): Address {
  return parseAddress(`0x${(digit === 'x' ? '1' : '2').repeat(40)}`) ?? assert.fail('no address')
}
