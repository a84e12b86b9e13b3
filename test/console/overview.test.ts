import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, send } from '../support/http-client.ts'
import { holdTable } from '../support/database/hold-table.ts'
import { seedPayment } from '../support/context/payment-rows.ts'
import { seedPurchase } from '../support/context/purchase-rows.ts'
import { readRows } from '../support/database/read-rows.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { paymentBody } from '../support/service/test-service.ts'
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

  test('shows what was spent and rejected, what remains, and the latest payments', async () => {
    const seeded = await seed(server.context)
    const { read } = await openConsoleFixture(seeded)
    await seedPayment(server.context, seeded, { amountUsdc: '1.50' })
    const confirmed = await seedPayment(server.context, seeded, { amountUsdc: '2.000001', status: 'confirmed' })
    await seedPayment(server.context, seeded, { amountUsdc: '7', status: 'failed' })
    await send(server.url, { path: '/v1/payments', key: seeded.key, body: paymentBody(seeded, { amount_usdc: '11' }) })
    const deposit = await seedDeposit(seeded)

    // The service stores a rejected request a moment after its response.
    const overview = await waitFor('the refusal', async () => {
      const found = await read('range=24h')
      return (found['counts'] as Wire)['refused'] === 1 && found
    })
    const { bars_at: barsAt, spend, payments, undelivered, ...rest } = overview
    const bars = barsAt as string[]
    assert.equal(bars.length, 24)
    assert.equal(Date.parse(bars[23] ?? '') - Date.parse(bars[0] ?? ''), 23 * HOUR_MS)
    assert.deepEqual(rest, {
      range: '24h',
      bar_seconds: 3_600,
      spent_usdc: '3.500001',
      withdrawn_usdc: '0',
      counts: { confirmed: 1, pending: 1, failed: 1, refused: 1 },
      caps: [
        {
          grant_id: seeded.grant.id,
          agent_id: seeded.agentId,
          wallet: seeded.wallet,
          wallet_name: 'Seeded',
          state: 'active',
          daily_cap_usdc: '100',
          spent_24h_usdc: '3.500001',
          remaining_24h_usdc: '96.499999',
        },
      ],
      deposits: [deposit],
      steps: { wallet: true, deposit: true, agent: true, grant: true, key: true, payment: true },
    })
    const { count, since } = undelivered as { count: number; since: string }
    assert.equal(count, 0)
    const age = server.clock.now().getTime() - Date.parse(since)
    assert.ok(age >= 7 * 24 * HOUR_MS && age < 7 * 24 * HOUR_MS + HOUR_MS, since)
    const [only] = spend as (Wire & { bars_usdc: string[] })[]
    assert.deepEqual([only?.['agent_id'], only?.['total_usdc']], [seeded.agentId, '3.500001'])
    assert.equal(only?.bars_usdc.length, 24)
    assert.deepEqual(
      only?.bars_usdc.filter((bar) => bar !== '0'),
      ['3.500001'],
    )
    const latest = payments as Wire[]
    assert.equal(latest.length, 3)
    assert.equal(latest.find(({ id }) => id === confirmed.id)?.['status'], 'confirmed')
    assert.deepEqual(Object.keys(latest[0] ?? {}).toSorted(), PAYMENT_MEMBERS)
  })

  test('shows what was spent on each host, and counts what was paid and not delivered', async () => {
    const seeded = await seed(server.context)
    const { browser, path, read } = await openConsoleFixture(seeded)
    await seedPurchase(server.context, seeded, {}, { amountUsdc: '0.25', status: 'confirmed' })
    await seedPurchase(server.context, seeded, { delivery: 'failed' }, { amountUsdc: '2', status: 'confirmed' })
    await seedPurchase(server.context, seeded, { delivery: 'unknown' }, { amountUsdc: '0.000001' })
    const { since, hosts } = await browser.ask<Wire>('GET', `${path}/hosts?mode=test`)
    assert.deepEqual(hosts, [
      {
        host: 'api.example',
        is_claimed: false,
        confirmed_usdc: '2.25',
        pending_usdc: '0.000001',
        purchases: 3,
        hosts: 1,
      },
    ])
    const age = server.clock.now().getTime() - Date.parse(String(since))
    assert.ok(age >= 30 * 24 * HOUR_MS && age < 30 * 24 * HOUR_MS + HOUR_MS, String(since))
    assert.deepEqual((await browser.ask<Wire>('GET', `${path}/hosts?mode=live`))['hosts'], [])
    const { undelivered } = await read('range=24h')
    assert.equal((undelivered as Wire)['count'], 1)
  })

  test('the other ranges have other bars, and the other mode is empty', async () => {
    const seeded = await seed(server.context)
    const { read } = await openConsoleFixture(seeded)
    await seedPayment(server.context, seeded)
    for (const [range, bars, seconds] of [
      ['7d', 28, 6 * 3_600],
      ['30d', 30, 24 * 3_600],
    ] as const) {
      const overview = await read(`range=${range}`)
      assert.deepEqual([(overview['bars_at'] as []).length, overview['bar_seconds']], [bars, seconds])
      assert.equal(overview['spent_usdc'], '1')
    }
    const live = await read('range=7d', 'live')
    assert.deepEqual([live['spent_usdc'], live['spend'], live['payments']], ['0', [], []])
  })

  test('callers that wait while the overview is being read share the next read, which includes later payments', async () => {
    const seeded = await seed(server.context)
    const { read } = await openConsoleFixture(seeded)
    const release = await holdTable(server.context.db, 'payment_refusals')
    const first = read('range=24h')
    await waitFor('the first', async () => (await countHeld()) === 1)
    await seedPayment(server.context, seeded)
    const others = Array.from({ length: 8 }, () => read('range=24h'))
    // Requests another range, which the server reads at the same time.
    const beside = read('range=7d')
    await waitFor('another range', async () => (await countHeld()) === 2)
    await release()
    for (const overview of [...(await Promise.all(others)), await beside]) assert.equal(overview['spent_usdc'], '1')
    assert.equal((await first)['range'], '24h')
  })

  test('an unknown range, and a missing one, are 400 and named in the error', async () => {
    const { browser, path } = await openConsoleFixture(await seed(server.context))
    for (const query of ['?mode=test&range=1y', '?mode=test']) {
      const error = expectError(await browser.call('GET', `${path}${query}`), { type: 'validation_failed' })
      assert.equal((error.details as { path: string }[])[0]?.path, 'range')
    }
  })

  async function openConsoleFixture({ workspace }: Seed) {
    const { browser, userId } = await openVisitor(server)
    await addMember(server.context, { workspace, userId, role: 'viewer', actor: OPERATOR })
    const path = `/console/workspaces/${workspace.slug}/overview`
    const read = async (query: string, mode = 'test') =>
      (await browser.ask<{ overview: Wire }>('GET', `${path}?mode=${mode}&${query}`)).overview
    return { browser, path, read }
  }

  async function countHeld(): Promise<number> {
    const text = `select 1 from pg_locks where not granted and relation = 'payment_refusals'::regclass`
    return (await readRows(server.context.db, text)).length
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
  ...['idempotency_key', 'kind', 'memo', 'pending_reason', 'purchase', 'status', 'to', 'tx_hash'],
]
