import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { HISTORY_STATES_MAX } from '../../sandbox/src/chain/limit.ts'
import { mintUsdc } from '../../sandbox/src/chain/mint-usdc.ts'
import { readConfig } from '../../server/src/config.ts'
import { openCsv } from '../../server/src/console/csv.ts'
import { createStatementRows, STATEMENT_COLUMNS } from '../../server/src/console/statement-csv.ts'
import { addMonths, monthAt, startOfMonth, type Month } from '../../server/src/domain/months/month.ts'
import { getStatement } from '../../server/src/domain/reports/statements/get-statement.ts'
import { walkMovements } from '../../server/src/domain/reports/statements/list-movements.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import { parseAddress } from '../../server/src/values/address.ts'
import { parseTimeZone } from '../../server/src/values/time-zone.ts'
import {
  createPayer,
  makeKeys,
  payPatiently,
  waitForDeposits,
  waitForRecord,
  type PayerFixture,
} from '../support/sandbox/payer-fixture.ts'
import { openSandboxFixture, MINED_CONFIRMATIONS, type OwnSandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { waitFor } from '../support/wait-for.ts'

/** How many payments and how many deposits the month has. For a measurement, set the variable to 6000. */
const COUNT = Number(process.env['BURSAR_STATEMENT_COUNT'] ?? 6)
/** A key may make 30 payment requests a minute. */
const KEYS = Math.ceil(COUNT / 60)
const PARALLEL = 16
const BATCH = 100
const WAIT_MS = 600_000
/** Longer than other tests may take, so that a busy machine has time for thousands of payments. */
const MEASURED_MS_MAX = 1_700_000

describe('a statement on a real chain', () => {
  let fixture: OwnSandboxFixture
  before(async () => {
    fixture = await openSandboxFixture({ serverEnv: () => ({ TEST_CONFIRMATIONS: String(MINED_CONFIRMATIONS) }) })
    await fixture.control('/chains/test', { mining: false })
  })
  after(() => fixture.close())

  const limits = COUNT > 100 ? { timeout: MEASURED_MS_MAX } : {}
  test(
    'its closing balance is the chain’s, with a fork and a failed payment in the month; later the chain has forgotten it',
    limits,
    async (t) => {
      const payer = await createPayer(fixture, { plan: 'scale', fundUsdc: '100000', dailyCapUsdc: '100000' })
      await mine(MINED_CONFIRMATIONS)
      const month = await beginMonth()
      await waitForBalance(payer, month)

      await payAll(payer)
      await fixture.control('/chains/test', { fail_transfers: 1 })
      const failed = await order(payer, payer.key)
      await mine(MINED_CONFIRMATIONS)
      await waitForRecord(fixture, failed, 'failed')
      await forkAway(payer)
      await payAcrossFork(payer)

      const expected = await fixture.chains.test.balanceOf(payer.wallet)
      const next = await beginMonth()
      assert.equal(next, addMonths(month, 1))
      await waitForBalance(payer, next)
      // The second reading of deposits follows 60 blocks later.
      for (let blocks = 0; blocks < 90; blocks += 30) await mine(30)
      const { statement, csv, statementMs, csvMs } = await waitFor(
        'the statement is closed',
        async () => {
          const read = await readStatement(payer, month)
          return read.statement.state === 'closed' && read
        },
        WAIT_MS,
      )
      assert.deepEqual([statement.opening.source, statement.closing.source], ['chain', 'chain'])
      assert.equal(statement.closing.micro, expected)
      assert.equal(statement.differenceMicro, 0n)
      const counts = Object.fromEntries(statement.sums.map(({ type, movements }) => [type, movements]))
      assert.deepEqual(counts, { payment: COUNT + 1, deposit: COUNT })

      const lines = csv.split('\r\n').slice(1, -1)
      assert.equal(lines.length, 2 * COUNT + 1 + 2)
      const [inMicro, outMicro] = [3, 4].map((column) =>
        lines.reduce((sum, line) => sum + Math.round(Number(line.split(',')[column]) * 1e6), 0),
      )
      const ends = [lines[0], lines.at(-1)].map((line) => Math.round(Number(line?.split(',')[5]) * 1e6))
      assert.equal((ends[0] ?? 0) + (inMicro ?? 0) - (outMicro ?? 0), ends[1])
      assert.equal(BigInt(ends[1] ?? 0), expected)
      if (COUNT > 100) {
        const bytes = Buffer.byteLength(csv)
        t.diagnostic(JSON.stringify({ movements: statement.totals.movements, statementMs, csvMs, bytes }))
      }

      await mine(HISTORY_STATES_MAX + 1)
      const data = `0x70a08231${payer.wallet.slice(2).toLowerCase().padStart(64, '0')}`
      const { usdc } = fixture.sandbox.facts.chains.test
      const block = `0x${(statement.closing.block ?? 0n).toString(16)}`
      await assert.rejects(fixture.chains.test.call('eth_call', [{ to: usdc, data }, block]))
    },
  )

  /** Moves all clocks to the beginning of the next month, and mines its first blocks. */
  async function beginMonth(): Promise<Month> {
    const now = new Date((await fixture.control('/clock', { advance_seconds: 0 })).body.now)
    const month = addMonths(monthAt(now), 1)
    const head = (await fixture.chains.test.call('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    const start = startOfMonth(month).getTime() / 1_000
    await fixture.control('/chains/test', { advance_seconds: Math.max(1, start - Number(head.timestamp)) })
    await fixture.advanceClock(Math.ceil(start - now.getTime() / 1_000) + 1)
    await mine(MINED_CONFIRMATIONS)
    return month
  }

  async function waitForBalance({ wallet }: PayerFixture, month: Month): Promise<void> {
    await waitFor(
      `the balance at the beginning of ${month}`,
      async () =>
        (await fixture.query('select 1 from month_balances where wallet_address = $1 and month = $2', [wallet, month]))
          .length === 1,
      WAIT_MS,
    )
  }

  async function payAll(payer: PayerFixture): Promise<void> {
    const keys = [payer.key, ...(await makeKeys(fixture, payer, KEYS))]
    const ids: string[] = []
    for (let made = 0; made < COUNT; made += BATCH) {
      const queue = Array.from({ length: Math.min(BATCH, COUNT - made) }, (_, index) => made + index).values()
      const work = async (): Promise<void> => {
        for (const index of queue) ids.push(await order(payer, keys[index % keys.length] ?? payer.key))
      }
      await Promise.all(Array.from({ length: PARALLEL }, work))
      const deposits = Math.min(BATCH, COUNT - made)
      for (let index = 0; index < deposits; index += 1) await mint(payer, 2_000_000n)
      await mine(1)
    }
    await mine(MINED_CONFIRMATIONS)
    for (const id of ids) await waitForRecord(fixture, id, 'confirmed')
    await waitForDeposits(fixture, payer.wallet, COUNT + 1)
  }

  /** A deposit whose block is replaced, and which is never mined again. */
  async function forkAway(payer: PayerFixture): Promise<void> {
    await mint(payer, 77_000_000n)
    await mine(1)
    await fixture.control('/chains/test', { reorg: 1 })
    await fixture.chains.test.call('anvil_dropAllTransactions', [])
    await mine(MINED_CONFIRMATIONS)
  }

  /** A payment whose block is replaced, and which is mined again later. */
  async function payAcrossFork(payer: PayerFixture): Promise<void> {
    const id = await order(payer, payer.key)
    await mine(1)
    await fixture.control('/chains/test', { reorg: 1 })
    await mine(2 * MINED_CONFIRMATIONS)
    await waitForRecord(fixture, id, 'confirmed')
  }

  async function order(payer: PayerFixture, key: string): Promise<string> {
    const answer = await payPatiently(fixture, payer, { key, amount_usdc: '1.01' })
    assert.equal(answer.status, 201, answer.text)
    return answer.body.payment.id
  }

  async function mint({ wallet }: PayerFixture, amountMicro: bigint): Promise<void> {
    await mintUsdc(fixture.sandbox.facts.chains.test.rpc_url, { to: wallet as `0x${string}`, amountMicro })
  }

  async function mine(blocks: number): Promise<void> {
    await fixture.control('/chains/test', { mine: blocks })
  }

  async function readStatement(payer: PayerFixture, month: Month) {
    const [workspace] = await fixture.query('select id from workspaces where slug = $1', [payer.slug])
    const config = readConfig(fixture.environment())
    const { context, close } = openContext(config, {
      clock: createClock(config.clockOffsetMs),
      logger: createLogger('silent'),
    })
    try {
      const wallet = parseAddress(payer.wallet)
      const utc = parseTimeZone('UTC')
      assert.ok(wallet !== null && utc !== null)
      const place = { workspaceId: String(workspace?.['id']), mode: 'test', wallet } as const
      const startedAt = performance.now()
      const statement = await getStatement(context, { ...place, month })
      const readAt = performance.now()
      const next = walkMovements(context, { place, range: statement.range })
      const rows = createStatementRows({ statement, utc, coin: 'ETH', names: new Map(), next })
      const csv = (
        await buffer(await openCsv({ columns: STATEMENT_COLUMNS, checkEnd: async () => undefined, next: rows }))
      ).toString('utf8')
      return { statement, csv, statementMs: readAt - startedAt, csvMs: performance.now() - readAt }
    } finally {
      await close()
    }
  }
})
