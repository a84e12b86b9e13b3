import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { countWaitingFor, holdTable } from '../support/database/hold-table.ts'
import { seedPayment } from '../support/context/payment-rows.ts'
import { seedPurchase } from '../support/context/purchase-rows.ts'
import { readRows } from '../support/database/read-rows.ts'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { waitFor } from '../support/wait-for.ts'
import { openVisitor } from './person.ts'

type Wire = Readonly<Record<string, unknown>>

const HOUR_MS = 60 * 60_000

describe('the overview in the dashboard', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer()
  })
  after(() => server.close())

  test('shows what needs attention, what the wallets hold, what remains, and the latest payments', async () => {
    const seeded = await seed(server.context)
    const { read } = await openConsoleFixture(seeded)
    await seedPayment(server.context, seeded, { amountUsdc: '1.50' })
    const confirmed = await seedPayment(server.context, seeded, { amountUsdc: '2.000001', status: 'confirmed' })
    await seedPurchase(server.context, seeded, { delivery: 'failed' }, { amountUsdc: '2', status: 'confirmed' })
    const deposit = await seedDeposit(seeded)
    const { payments, conditions, ...rest } = await read()
    assert.deepEqual(rest, {
      wallets: [
        {
          ...{ address: seeded.wallet, name: 'Seeded', balance_usdc: null, read_at: null, available_usdc: null },
          ...{ limits_left_usdc: '94.499999', can_spend_usdc: null },
        },
      ],
      caps: [
        {
          grant_id: seeded.grant.id,
          agent_id: seeded.agentId,
          wallet: seeded.wallet,
          wallet_name: 'Seeded',
          state: 'active',
          daily_cap_usdc: '100',
          spent_24h_usdc: '5.500001',
          remaining_24h_usdc: '94.499999',
        },
      ],
      caps_count: 1,
      deposits: [deposit],
      steps: { wallet: true, deposit: true, agent: true, grant: true, key: true, payment: true },
    })
    const [only, ...others] = conditions as (Wire & { items: Wire[] })[]
    assert.deepEqual([only?.['name'], only?.['severity'], others.length], ['purchase_undelivered', 'problem', 0])
    assert.deepEqual([only?.items[0]?.['name'], only?.items[0]?.['page']], ['1 purchase', ['payments']])
    const latest = payments as Wire[]
    assert.equal(latest.length, 3)
    assert.equal(latest.find(({ id }) => id === confirmed.id)?.['status'], 'confirmed')
    assert.deepEqual(Object.keys(latest[0] ?? {}).toSorted(), PAYMENT_MEMBERS)
  })

  test('shows what was spent in a period, beside the period before', async () => {
    const seeded = await seed(server.context)
    const { browser, path } = await openConsoleFixture(seeded)
    await seedPayment(server.context, seeded, { amountUsdc: '1.50' })
    await seedPayment(server.context, seeded, { amountUsdc: '2.000001', status: 'confirmed' })
    const query = 'mode=test&period=today&zone=UTC&by=recipient'
    const { spending } = await browser.ask<{ spending: Wire }>('GET', `${path}/spending?${query}`)
    const { bars_at: bars, agents, rows, days, previous_days: previousDays, start, end, ...rest } = spending
    assert.deepEqual([(bars as []).length, (bars as string[])[0]], [24, start])
    assert.equal(Date.parse(String(end)) - Date.parse(String(start)), 24 * HOUR_MS)
    const { from, to } = days as { from: string; to: string }
    assert.ok(from === to && (previousDays as { to: string }).to < from)
    assert.deepEqual(rest, {
      ...{ period: 'today', zone: 'UTC', by: 'recipient', is_too_large: false, spent_usdc: '3.500001' },
      ...{ pending_usdc: '1.5', previous_usdc: '0', withdrawn_usdc: '0' },
      counts: { confirmed: 1, pending: 1, failed: 0, refused: 0 },
    })
    const [agent] = agents as (Wire & { bars_usdc: string[] })[]
    assert.deepEqual([agent?.['agent_id'], agent?.['color'], agent?.['total_usdc']], [seeded.agentId, 0, '3.500001'])
    assert.deepEqual(
      agent?.bars_usdc.filter((bar) => bar !== '0'),
      ['3.500001'],
    )
    assert.deepEqual(rows, [
      {
        ...{ name: RECIPIENT, label: null, is_claimed: false, spent_usdc: '3.500001', previous_usdc: '0' },
        ...{ payments: 2, names: 1 },
      },
    ])
  })

  test('invalid periods, days, zones and groupings are 400 and named in the error', async () => {
    const { browser, path } = await openConsoleFixture(await seed(server.context))
    const cases = [
      ['period', 'period=1y&zone=UTC&by=agent'],
      ['zone', 'period=today&by=agent'],
      ['zone', 'period=today&zone=Mars/Olympus&by=agent'],
      ['by', 'period=today&zone=UTC&by=colour'],
      ['agent', 'period=today&zone=UTC&by=agent&agent=%20'],
      ['from', 'period=custom&zone=UTC&by=agent&to=2026-06-01'],
      ['to', 'period=custom&zone=UTC&by=agent&from=2026-06-01&to=2026-02-30'],
      ['to', 'period=custom&zone=UTC&by=agent&from=2026-06-02&to=2026-06-01'],
      ['to', 'period=custom&zone=UTC&by=agent&from=2026-01-01&to=2026-04-03'],
      ['from', 'period=custom&zone=UTC&by=agent&from=1999-01-01&to=1999-01-02'],
    ] as const
    for (const [member, query] of cases) {
      const error = expectError(await browser.call('GET', `${path}/spending?mode=test&${query}`), {
        type: 'validation_failed',
      })
      assert.equal((error.details as { path: string }[])[0]?.path, member, query)
    }
  })

  test('tells an owner of a wallet how many grants wait for their signature, and other members none', async () => {
    const seeded = await seed(server.context)
    const owner = await openConsoleFixture(seeded)
    const other = await openConsoleFixture(seeded)
    await readRows(
      server.context.db,
      `with k as (insert into wallet_passkeys (user_id, credential_id, public_key, name, transports, created_at)
          values ($4, 'cred ' || $4, '', 'Phone', '{}', now()) returning credential_id)
        insert into wallet_owners (workspace_id, mode, wallet_address, credential_id, added_at)
        select $1, $2, $3, credential_id, now() from k`,
      [seeded.workspace.id, 'test', seeded.wallet, owner.userId],
    )
    const waiting = async ({ browser, path }: typeof owner) =>
      (await browser.ask<{ grants: number }>('GET', `${path}/waiting?mode=test`)).grants
    assert.equal(await waiting(owner), 0)
    await readRows(server.context.db, `update grants set status = 'pending', activated_at = null where id = $1`, [
      seeded.grant.id,
    ])
    assert.deepEqual([await waiting(owner), await waiting(other)], [1, 0])
    const textOf = async ({ read }: typeof owner) => (await read())['conditions'] as { items: { text: string }[] }[]
    assert.match((await textOf(owner))[0]?.items[0]?.text ?? '', /you can sign it/)
    assert.match((await textOf(other))[0]?.items[0]?.text ?? '', /an owner of the wallet must sign it/)
  })

  test('callers that wait while the overview is being read share the next read, which includes later payments', async () => {
    const seeded = await seed(server.context)
    const { read } = await openConsoleFixture(seeded)
    const release = await holdTable(server.context.db, 'payment_refusals')
    const isHeld = (count: number) => async () =>
      (await countWaitingFor(server.context.db, 'payment_refusals')) === count
    const first = read()
    await waitFor('the first', isHeld(1))
    await seedPayment(server.context, seeded)
    const others = Array.from({ length: 8 }, () => read())
    // Requests the other mode, which the server reads at the same time. The others wait, and do not read yet.
    const beside = read('live')
    await waitFor('the other mode', isHeld(2))
    await release()
    for (const { payments } of await Promise.all(others)) assert.equal((payments as []).length, 1)
    await first
    assert.deepEqual((await beside)['payments'], [])
  })

  async function openConsoleFixture({ workspace }: Seed) {
    const { browser, userId } = await openVisitor(server)
    await addMember(server.context, { workspace, userId, role: 'viewer', actor: OPERATOR })
    const path = `/console/workspaces/${workspace.slug}/overview`
    const read = async (mode = 'test') =>
      (await browser.ask<{ overview: Wire }>('GET', `${path}?mode=${mode}`)).overview
    return { browser, path, read, userId }
  }

  /** Inserts a deposit in the same way as the service's deposit watcher. Returns the deposit in the form of the API. */
  async function seedDeposit({ workspace, wallet }: Seed): Promise<Wire> {
    const told = {
      id: 'dep_01M7ZJDS8P0000000000030D0F',
      wallet,
      from: `0x${'9'.repeat(40)}`,
      amount_usdc: '12.5',
      tx_hash: `0x${'c'.repeat(64)}`,
      block_number: 7,
      created_at: '2026-06-01T12:00:00.000Z',
    }
    await readRows(
      server.context.db,
      `insert into deposits (workspace_id, id, mode, wallet_address, from_address, amount_micro, tx_hash, position,
          block_number, block_hash, created_at)
        values ($1, $2, 'test', $3, $4, 12500000, $5, 0, 7, '0x1', $6)`,
      [workspace.id, told.id, wallet, told.from, told.tx_hash, told.created_at],
    )
    return told
  }
})

const PAYMENT_MEMBERS = [
  ...['agent_id', 'amount_usdc', 'confirmed_at', 'created_at', 'failure_code', 'from', 'grant_id', 'id'],
  ...['idempotency_key', 'kind', 'memo', 'pending_reason', 'purchase', 'request_id', 'status', 'to', 'tx_hash'],
]
