import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { seedDeposit } from '../../../../../test/support/context/deposit-rows.ts'
import { frozenAt } from '../../../../../test/support/context/moved-clock.ts'
import { seedPayment } from '../../../../../test/support/context/payment-rows.ts'
import { seedPurchase } from '../../../../../test/support/context/purchase-rows.ts'
import { seed, seedWallet, type Seed } from '../../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../../test/support/database/read-rows.ts'
import { microUsdc } from '../../../values/money.ts'
import type { Context } from '../../context.ts'
import type { Month } from '../../months/month.ts'
import { saveMonthBalances, saveMonthBlock } from '../../months/months-store.ts'
import type { TxHash } from '../../payments/payment.ts'
import { insertUnexplained } from '../../unexplained-transfers/unexplained-transfers-store.ts'
import { getStatement } from './get-statement.ts'
import { listMovements, PAGE_MOVEMENTS, type ListedMovement } from './list-movements.ts'
import { listStatements } from './list-statements.ts'

const NOW = new Date('2026-12-05T12:00:00Z')
const [AUGUST, OCTOBER, NOVEMBER, DECEMBER] = ['2026-08', '2026-10', '2026-11', '2026-12'] as Month[] as [
  Month,
  Month,
  Month,
  Month,
]
/** The first blocks of November and December. */
const [FIRST, NEXT] = [1_000n, 2_000n]
const AT = new Date('2026-11-15T10:00:00Z')

describe('the statement of a wallet and a month', () => {
  let given: TestContext
  let ctx: Context
  let seeded: Seed
  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
    await ctx.db.write(saveMonthBlock('test', block(OCTOBER, 100n)))
    await ctx.db.write(saveMonthBlock('test', block(NOVEMBER, FIRST)))
    await ctx.db.write(saveMonthBlock('test', block(DECEMBER, NEXT)))
    const cursor = "(mode, block_number, block_hash, reread_block) values ('test', 5000, '0x1', 5000)"
    await readRows(ctx.db, `insert into deposit_cursors ${cursor}`)
    await readRows(ctx.db, "insert into ledger_cursors (mode, block_number) values ('test', 5000)")
  })
  beforeEach(async () => {
    seeded = await seed(frozenAt(ctx, new Date('2026-08-01T00:00:00Z')))
  })
  after(() => given.close())

  test('it has every movement in the blocks of the month, in the order of the chain, and adds up', async () => {
    await record(NOVEMBER, 100)
    await record(DECEMBER, 100 + 25 - 1 - 2 - 3)
    await deposit(FIRST - 1n, 900)
    await deposit(NEXT, 900)
    await pay(NEXT - 1n, '3', { kind: 'withdrawal' })
    await deposit(FIRST, 25)
    const resource = { resourceUrl: 'https://a.example/x' }
    const confirmed = { at: AT, status: 'confirmed', amountUsdc: '2', minedBlock: 1_500n, txHash: hash() } as const
    await seedPurchase(ctx, seeded, resource, confirmed)
    await pay(FIRST, '1', { memo: 'lunch' })
    await pay(NEXT, '50')
    await pay(1_200n, '50', { status: 'failed' })
    await seedPayment(ctx, await seed(ctx), { at: AT, status: 'confirmed', minedBlock: 1_300n })
    const { statement, movements } = await read()
    assert.deepEqual(
      movements.map(({ type, blockNumber, inMicro, outMicro, memo, purchase }) => [
        ...[type, Number(blockNumber), Number(inMicro) / 1e6, Number(outMicro) / 1e6],
        memo ?? purchase?.resourceUrl ?? null,
      ]),
      [
        ['deposit', 1_000, 25, 0, null],
        ['payment', 1_000, 0, 1, 'lunch'],
        ['purchase', 1_500, 0, 2, 'https://a.example/x'],
        ['withdrawal', 1_999, 0, 3, null],
      ],
    )
    assert.deepEqual(pick(statement), ['closed', 'chain 100', 'chain 119', 0])
    assert.deepEqual(statement.totals, { inMicro: 25_000_000n, outMicro: 6_000_000n, gasWei: 0n, movements: 4 })
  })

  test('what no movement explains is shown as a difference', async () => {
    await record(NOVEMBER, 100)
    await record(DECEMBER, 90)
    await pay(1_500n, '1')
    assert.deepEqual(pick((await read()).statement), ['closed', 'chain 100', 'chain 90', -9])
  })

  test('a transfer that no payment explains is a movement, until a payment is recorded for it', async () => {
    await record(NOVEMBER, 100)
    await record(DECEMBER, 93)
    const place = { workspaceId: seeded.workspace.id, mode: 'test', txHash: hash(), logIndex: 3n } as const
    const transfer = { wallet: seeded.wallet, to: seeded.wallet, amountMicro: microUsdc(7_000_000n), nonce: null }
    const to = (await seed(ctx)).wallet
    const times = { blockNumber: 1_400n, minedAt: AT, foundAt: AT }
    await ctx.db.write(insertUnexplained({ ...place, ...transfer, to, ...times }))
    const { statement, movements } = await read()
    assert.deepEqual(pick(statement), ['closed', 'chain 100', 'chain 93', 0])
    assert.deepEqual(
      movements.map(({ type, counterparty, txHash }) => [type, counterparty, txHash]),
      [['unexplained_transfer', to, place.txHash]],
    )
  })

  test('a payment to its own wallet moves nothing', async () => {
    await record(NOVEMBER, 100)
    await record(DECEMBER, 100)
    await pay(1_500n, '8', { to: seeded.wallet })
    const { statement, movements } = await read()
    assert.deepEqual(pick(statement), ['closed', 'chain 100', 'chain 100', 0])
    assert.deepEqual([movements.length, movements[0]?.outMicro], [1, 0n])
  })

  test('gas that the wallet pays is apart, also for a payment that failed', async () => {
    await record(NOVEMBER, 100)
    await record(DECEMBER, 99)
    await pay(1_500n, '1', { gasWei: 21n })
    await pay(1_600n, '5', { status: 'failed', gasWei: 9n })
    const { statement, movements } = await read()
    assert.deepEqual(pick(statement), ['closed', 'chain 100', 'chain 99', 0])
    assert.equal(statement.totals.gasWei, 30n)
    assert.deepEqual(
      movements.map(({ type, outMicro, gasWei }) => [type, Number(outMicro), Number(gasWei)]),
      [
        ['payment', 1_000_000, 21],
        ['failed_payment', 0, 9],
      ],
    )
  })

  test('a balance that could not be read is computed from the other one, and nothing is compared then', async () => {
    await record(NOVEMBER, 100)
    await pay(1_500n, '1')
    assert.deepEqual(pick((await read()).statement), ['closed', 'chain 100', 'computed 99', null])
    await readRows(ctx.db, 'delete from month_balances where wallet_address = $1', [seeded.wallet])
    await record(DECEMBER, 42)
    assert.deepEqual(pick((await read()).statement), ['closed', 'computed 43', 'chain 42', null])
  })

  test('without both balances, the opening one is computed from the last that was recorded, or from the beginning', async () => {
    await deposit(50n, 20)
    await deposit(150n, 30)
    await pay(500n, '5')
    await pay(1_500n, '1')
    assert.deepEqual(pick((await read()).statement), ['closed', 'computed 45', 'computed 44', null])
    await record(OCTOBER, 21)
    assert.deepEqual(pick((await read()).statement), ['closed', 'computed 46', 'computed 45', null])
  })

  test('a balance that was read on a fork that has ended does not count', async () => {
    await record(NOVEMBER, 100, 'another fork')
    await record(DECEMBER, 42)
    await pay(1_500n, '1')
    assert.deepEqual(pick((await read()).statement), ['closed', 'computed 43', 'chain 42', null])
  })

  test('in the month of its creation, a wallet begins with nothing; before, it has no statement', async () => {
    const wallet = await seedWallet(frozenAt(ctx, AT), seeded)
    seeded = { ...seeded, wallet }
    await record(DECEMBER, 25)
    await deposit(1_700n, 25)
    assert.deepEqual(pick((await read()).statement), ['closed', 'created 0', 'chain 25', 0])
    await assert.rejects(get(OCTOBER), { type: 'not_found' })
    await assert.rejects(get('2027-01' as Month), { type: 'not_found' })
  })

  test('the month that is not over has a balance so far', async () => {
    await record(DECEMBER, 10)
    await pay(NEXT + 5n, '4')
    assert.deepEqual(pick((await read(DECEMBER)).statement), ['open', 'chain 10', 'computed 6', null])
  })

  test('it is not closed while a payment of the month is pending, or while blocks of the month are still read', async () => {
    await record(NOVEMBER, 100)
    await record(DECEMBER, 100)
    await seedPayment(ctx, seeded, { at: AT })
    const { statement } = await read()
    assert.deepEqual([statement.state, statement.pending], ['settling', 1])
    await readRows(ctx.db, 'delete from payments where wallet_address = $1', [seeded.wallet])
    await readRows(ctx.db, "update deposit_cursors set reread_block = 1998 where mode = 'test'")
    assert.equal((await read()).statement.state, 'settling')
    await readRows(ctx.db, "update deposit_cursors set reread_block = 1999 where mode = 'test'")
    assert.equal((await read()).statement.state, 'closed')
    await readRows(ctx.db, "update deposit_cursors set reread_block = 5000 where mode = 'test'")
  })

  test('pages have every movement once, also with many in one block', async () => {
    await record(NOVEMBER, 5_000)
    await readRows(
      ctx.db,
      `insert into payments (workspace_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro,
          amount_usdc, status, tx_hash, log_index, created_at, settled_at, mined_block, mined_block_hash,
          max_per_tx_micro, daily_cap_micro, spent_24h_micro, attempt)
        select $1, 'test', 'pay_' || lpad(n::text, 26, '0'), $2, $3, $4, $3, 1000000, '1', 'confirmed',
          '0x' || encode(sha256((n::text || $3)::bytea), 'hex'), 0, $5::timestamptz, $5::timestamptz,
          1200 + n / 700, '0x1', 1000000, 1000000, 0, 1
        from generate_series(1, 1400) n`,
      [seeded.workspace.id, seeded.agentId, seeded.wallet, seeded.grant.id, AT],
    )
    await deposit(1_201n, 1)
    const { movements } = await read()
    assert.ok(movements.length > 2 * PAGE_MOVEMENTS)
    assert.deepEqual([movements.length, new Set(movements.map(({ id }) => id)).size], [1_401, 1_401])
    const blocks = movements.map(({ blockNumber }) => Number(blockNumber))
    assert.deepEqual(
      blocks,
      blocks.toSorted((left, right) => left - right),
    )
  })

  test('the list has the wallets of the last month that is over, and all months since the first wallet', async () => {
    await record(NOVEMBER, 100)
    await record(DECEMBER, 99)
    const young = await seedWallet(frozenAt(ctx, new Date('2026-12-02T00:00:00Z')), seeded)
    const place = { workspaceId: seeded.workspace.id, mode: 'test' } as const
    const { months, month, statements } = await listStatements(ctx, { ...place, month: null })
    assert.deepEqual([months[0], months.at(-1), months.length, month], [DECEMBER, AUGUST, 5, NOVEMBER])
    assert.deepEqual(
      statements.map(({ wallet, openingMicro, closingMicro, isOver }) => [wallet, openingMicro, closingMicro, isOver]),
      [[seeded.wallet, 100_000_000n, 99_000_000n, true]],
    )
    const current = await listStatements(ctx, { ...place, month: DECEMBER })
    assert.deepEqual(
      current.statements.map(({ wallet, openingMicro, isOver }) => [wallet, openingMicro, isOver]),
      [
        [seeded.wallet, 99_000_000n, false],
        [young, 0n, false],
      ],
    )
  })

  function get(month: Month) {
    const { workspace, mode, wallet } = seeded
    return getStatement(ctx, { workspaceId: workspace.id, mode, wallet, month })
  }

  async function read(month = NOVEMBER) {
    const statement = await get(month)
    const { workspace, mode, wallet } = seeded
    const request = { place: { workspaceId: workspace.id, mode, wallet }, range: statement.range }
    const movements: ListedMovement[] = []
    for (let page = await listMovements(ctx, { ...request, after: null }); ;) {
      movements.push(...page)
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE_MOVEMENTS) break
      page = await listMovements(ctx, { ...request, after: last })
    }
    assert.equal(movements.length, statement.totals.movements)
    return { statement, movements }
  }

  async function record(month: Month, usdc: number, parentHash = `0x${month}`): Promise<void> {
    const { workspace, mode, wallet } = seeded
    const balance = { workspaceId: workspace.id, address: wallet, balanceMicro: microUsdc(BigInt(usdc) * 1_000_000n) }
    await ctx.db.write(saveMonthBalances(mode, { month, parentHash }, [balance]))
  }

  async function deposit(blockNumber: bigint, usdc: number): Promise<void> {
    await seedDeposit(ctx, seeded, { at: AT, blockNumber, amountMicro: microUsdc(BigInt(usdc) * 1_000_000n) })
  }

  async function pay(
    minedBlock: bigint,
    amountUsdc: string,
    changes: Parameters<typeof seedPayment>[2] = {},
  ): Promise<void> {
    const confirmed = { at: AT, status: 'confirmed', minedBlock, amountUsdc, txHash: hash() } as const
    await seedPayment(ctx, seeded, { ...confirmed, ...changes })
  }
})

function block(month: Month, firstBlock: bigint) {
  return { month, firstBlock, parentHash: `0x${month}`, isFinal: true, nextReadAt: null }
}

let hashes = 0
function hash(): TxHash {
  hashes += 1
  return `0x${hashes.toString(16).padStart(64, '0')}`
}

function pick({ state, opening, closing, differenceMicro }: Awaited<ReturnType<typeof getStatement>>) {
  const show = ({ source, micro }: typeof opening) => `${source} ${Number(micro) / 1e6}`
  return [state, show(opening), show(closing), differenceMicro === null ? null : Number(differenceMicro) / 1e6]
}
