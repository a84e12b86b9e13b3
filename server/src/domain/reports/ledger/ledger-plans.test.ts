import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readPlan } from '../../../../../test/support/database/read-plan.ts'
import { readRows, runUnlimited } from '../../../../../test/support/database/read-rows.ts'
import { RECIPIENT, seed, type Seed } from '../../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import type { Query } from '../../../db/query.ts'
import { listWalletRows } from '../wallets/wallet-budgets-store.ts'
import {
  listLedgerDepositsOfAgent,
  listLedgerPayments,
  listLedgerWithdrawals,
  type LedgerSelection,
} from './ledger-store.ts'

/** The number of payments and deposits of the other workspace, and of the workspace whose ledger is read. */
const OTHERS = 6_000
const OWN = 1_000
/** How many wallets the other workspace has, each with a grant. */
const OTHERS_WALLETS = 1_000
const TABLES = ['payments', 'deposits', 'grants', 'wallets']

describe('the query plans of the ledger and of wallets, beside a workspace with many payments', () => {
  let given: TestContext
  let own: Seed
  before(async () => {
    given = await openTestContext()
    own = await seed(given.context)
    const other = await seed(given.context)
    await fill(other, OTHERS)
    await fillWallets(other)
    await fill(own, OWN)
    for (const table of TABLES) await readRows(given.context.db, `analyze ${table}`)
  })
  after(() => given.close())

  const ofAgent = (): { agentId: string } => ({ agentId: own.agentId })
  const ofWallet = (): { wallet: Seed['wallet'] } => ({ wallet: own.wallet })
  const cases: readonly (readonly [name: string, query: () => Query<unknown>, indexes: readonly string[]])[] = [
    ['payments', () => listLedgerPayments({ ...place(), agentId: null }), ['payments_listed']],
    ['payments of an agent', () => listLedgerPayments({ ...place(), ...ofAgent() }), ['payments_of_agent']],
    [
      'payments of a wallet',
      () => listLedgerPayments({ ...place(), ...ofWallet(), agentId: null }),
      ['payments_of_wallet'],
    ],
    [
      'payments of an agent from a wallet',
      () => listLedgerPayments({ ...place(), ...ofWallet(), ...ofAgent() }),
      ['payments_failed', 'payments_in_window'],
    ],
    ['withdrawals', () => listLedgerWithdrawals(place()), ['payments_withdrawn']],
    [
      'deposits to the wallets of an agent',
      () => listLedgerDepositsOfAgent({ ...place(), ...ofAgent() }),
      ['deposits_of_wallet', 'grants_live_by_agent'],
    ],
    [
      'wallets',
      () => listWalletRows({ ...place(), agentId: null, now: given.clock.now() }, { after: null, limit: 21 }),
      ['grants_by_wallet', 'payments_in_window', 'wallets_pkey'],
    ],
    [
      'wallets of an agent',
      () => listWalletRows({ ...place(), ...ofAgent(), now: given.clock.now() }, { after: null, limit: 21 }),
      ['grants_live_by_agent', 'payments_in_window', 'wallets_pkey'],
    ],
  ]
  for (const [name, query, indexes] of cases) {
    test(`${name} are read with ${indexes.join(' and ')}`, async () => {
      const plan = await readPlan(given.context.db, [], query())
      const scans = [...plan.matchAll(/Scan (?:Backward )?(?:using|on) (\w+_\w+)/g)]
      const used = new Set(scans.map(([, index]) => String(index)))
      assert.deepEqual([...used].toSorted(), indexes, plan)
      assert.doesNotMatch(plan, /Seq Scan/, plan)
    })
  }

  test('no statement sorts all rows of the workspace before it takes a page', async () => {
    for (const [name, query] of cases.slice(0, 5)) {
      const plan = await readPlan(given.context.db, [], query())
      const [beforeLimit = ''] = plan.split('Limit').slice(-1)
      // An incremental sort sorts only rows of the same time.
      assert.doesNotMatch(beforeLimit, /-> {2}Sort/, `${name}\n${plan}`)
    }
  })

  function place(): LedgerSelection {
    const range = { from: new Date(0), after: { createdAt: given.clock.now(), id: '' } }
    return { accountId: own.account.id, mode: 'test', wallet: null, range, limit: 51 }
  }

  async function fill({ account, agentId, wallet, grant }: Seed, count: number): Promise<void> {
    await runUnlimited(
      given.config.database.url,
      `insert into payments (account_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro,
          amount_usdc, status, failure_code, settled_at, created_at, max_per_tx_micro, daily_cap_micro, spent_24h_micro,
          attempt)
        select $1, 'test', 'pay_01J0' || lpad(n::text, 22, '0'), $2, $3, $4, $5, 1, '0.000001',
          case when n % 10 = 0 then 'failed' else 'pending' end, case when n % 10 = 0 then 'reverted' end,
          case when n % 10 = 0 then $6::timestamptz end, $6::timestamptz - n * interval '1 minute', 1, 1000000, 0, 1
        from generate_series(1, $7::integer) n`,
      [account.id, agentId, wallet, grant.id, RECIPIENT, given.clock.now(), count],
    )
    await runUnlimited(
      given.config.database.url,
      `insert into deposits (account_id, id, mode, wallet_address, from_address, amount_micro, tx_hash, position,
          block_number, block_hash, created_at)
        select $1, 'dep_01J0' || lpad(n::text, 22, '0'), 'test', $2, $3, 1, '0x' || lpad(to_hex(n), 64, '0'), 0, 1,
          '0x1', $4
        from generate_series(1, $5::integer) n`,
      [account.id, wallet, RECIPIENT, given.clock.now(), count],
    )
  }

  async function fillWallets({ account, agentId }: Seed): Promise<void> {
    await runUnlimited(
      given.config.database.url,
      `insert into wallets (account_id, mode, address, name, enclave_wallet_id, owner_quorum_id, created_at)
        select $1, 'test', '0x' || lpad(n::text, 40, '0'), 'Other', n::text, 'q', $2 from generate_series(1, $3::integer) n`,
      [account.id, given.clock.now(), OTHERS_WALLETS],
    )
    await runUnlimited(
      given.config.database.url,
      `insert into grants (account_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
          recipient_allowlist, contract_allowlist, status, enclave_policy_id, created_at, activated_at)
        select $1, 'grt_' || n, 'test', $2, '0x' || lpad(n::text, 40, '0'), 1, 1, '{}', '{x}', 'active', 'p', $3, $3
        from generate_series(1, $4::integer) n`,
      [account.id, agentId, given.clock.now(), OTHERS_WALLETS],
    )
  }
})
