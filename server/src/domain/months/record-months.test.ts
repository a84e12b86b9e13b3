import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { frozenAt } from '../../../../test/support/context/moved-clock.ts'
import { seed, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { RpcRefusal, type FakeChain } from '../../../../test/support/wires/fake-chain.ts'
import type { Context } from '../context.ts'
import { recordMonths } from './record-months.ts'

/** The chain has a block every two seconds, and block 0 is 1,000 seconds before November begins. */
const NOVEMBER = new Date('2026-11-01T00:00:00Z')
const FIRST_BLOCK = 500n
const OCTOBER = new Date('2026-10-12T00:00:00Z')

describe('the blocks and balances with which months begin', () => {
  let given: TestContext
  let chain: FakeChain
  let seeded: Seed
  before(async () => {
    given = await openTestContext()
    chain = given.chains.test
  })
  beforeEach(async () => {
    chain.startSeconds = BigInt(NOVEMBER.getTime() / 1_000) - 1_000n
    chain.head = FIRST_BLOCK
    chain.balances.clear()
    seeded = await seed(frozenAt(given.context, OCTOBER))
    chain.balances.set(seeded.wallet.toLowerCase(), 7_000_000n)
  })
  afterEach(async () => {
    chain.intercept = () => undefined
    await readRows(given.context.db, 'delete from month_balances')
    await readRows(given.context.db, 'delete from month_blocks')
  })
  after(() => given.close())

  test('the first block of the month is found, and the balance is the one after the block before it', async () => {
    const calls: unknown[] = []
    chain.intercept = ({ method, params }) => void (method === 'eth_call' && calls.push(params[1]))
    await record(NOVEMBER)
    assert.deepEqual(await blocks(), [{ month: '2026-11', first_block: '500', is_final: false }])
    assert.equal(await balance(), '7000000')
    assert.deepEqual([...new Set(calls)], [`0x${(FIRST_BLOCK - 1n).toString(16)}`])
  })

  test('nothing is recorded before the chain reaches the month', async () => {
    chain.head = FIRST_BLOCK - 1n
    await record(NOVEMBER)
    assert.deepEqual(await blocks(), [])
  })

  test('the block is found from far away too', async () => {
    for (const head of [501n, 777n, 40_000n]) {
      await readRows(given.context.db, 'delete from month_balances')
      await readRows(given.context.db, 'delete from month_blocks')
      chain.head = head
      await record(NOVEMBER)
      assert.deepEqual(await blocks(), [{ month: '2026-11', first_block: '500', is_final: head > 529n }])
    }
  })

  test('a wallet that did not exist yet has no balance, and another mode is not touched', async () => {
    const late = await seedWallet(frozenAt(given.context, new Date('2026-11-02T00:00:00Z')), seeded)
    await record(NOVEMBER)
    const rows = await readRows(given.context.db, 'select 1 from month_balances where wallet_address = $1', [late])
    assert.deepEqual(rows, [])
  })

  test('if a reorganization replaces the block, block and balance are read again', async () => {
    await record(NOVEMBER)
    chain.reorganize(3)
    chain.head = FIRST_BLOCK + 1n
    chain.balances.set(seeded.wallet.toLowerCase(), 6_000_000n)
    await record(seconds(20))
    assert.equal(await balance(), '6000000')
  })

  test('the block becomes final at the depth of 30, and is then left alone', async () => {
    await record(NOVEMBER)
    chain.head = FIRST_BLOCK + 29n
    await record(seconds(60))
    assert.deepEqual(await blocks(), [{ month: '2026-11', first_block: '500', is_final: true }])
    chain.requests = 0
    await record(seconds(10_000))
    assert.equal(chain.requests, 0)
  })

  test('without the state of the block no balance is recorded; reads become rare, and succeed when a node has it', async () => {
    chain.head = FIRST_BLOCK + 29n
    let refused = 0
    chain.intercept = ({ method, params }) => {
      if (method !== 'eth_call') return undefined
      if (JSON.stringify(params).includes(seeded.wallet.slice(2).toLowerCase())) refused += 1
      throw new RpcRefusal(-32000, 'missing trie node 5f2c (path ) state 0x5f2c is not available')
    }
    for (let second = 0; second < 3_600; second += 10) await record(seconds(second))
    assert.equal(await balance(), undefined)
    assert.ok(refused > 2 && refused < 60, `${refused} reads in an hour`)
    // The node stays in service for payments.
    chain.intercept = () => undefined
    assert.equal((await given.context.chains.test.readUsdcBalance(seeded.wallet)).balanceMicro, 7_000_000n)
    await record(seconds(2 * 86_400))
    assert.equal(await balance(), '7000000')
  })

  test('the months before are found one by one, the newest first', async () => {
    chain.startSeconds = BigInt(new Date('2026-10-30T00:00:00Z').getTime() / 1_000)
    chain.head = 4_000_000n
    const january = new Date('2027-01-20T00:00:00Z')
    for (const expected of ['2027-01', '2026-12', '2026-11', '2026-11']) {
      await record(january)
      assert.equal((await blocks()).at(-1)?.['month'], expected)
    }
    assert.deepEqual(
      (await blocks()).map((row) => [row['month'], row['first_block']]),
      [
        ['2027-01', String((63 * 86_400) / 2)],
        ['2026-12', String((32 * 86_400) / 2)],
        ['2026-11', String((2 * 86_400) / 2)],
      ],
    )
  })

  async function record(now: Date): Promise<void> {
    // The head that was read last counts as recent for half a second.
    const chains: Context['chains'] = {
      ...given.context.chains,
      test: { ...given.context.chains.test, readRecentHead: given.context.chains.test.readHead },
    }
    await recordMonths({ ...frozenAt(given.context, now), chains }, { mode: 'test', renewLease: async () => true })
  }

  async function blocks() {
    return await readRows(
      given.context.db,
      "select month, first_block, is_final from month_blocks where mode = 'test' order by month desc",
    )
  }

  async function balance(): Promise<unknown> {
    const rows = await readRows(
      given.context.db,
      'select balance_micro from month_balances where wallet_address = $1',
      [seeded.wallet],
    )
    return rows[0]?.['balance_micro']
  }
})

function seconds(count: number): Date {
  return new Date(NOVEMBER.getTime() + count * 1_000)
}
