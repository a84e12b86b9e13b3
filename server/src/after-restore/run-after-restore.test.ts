import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { expectPayment } from '../../../test/support/context/expect-outcome.ts'
import { paymentRequest, RECIPIENT, seed, type Seed } from '../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { createPayment } from '../domain/payment-requests/create-payment.ts'
import { compareLedger } from '../domain/unexplained-transfers/compare-ledger.ts'
import { LOST_AUTHORIZATION_MS } from '../domain/unexplained-transfers/unexplained-transfer.ts'
import { runAfterRestore, type AfterRestoreOptions } from './run-after-restore.ts'

/** A payment that the restored database does not contain is deleted from it, after its transfer was mined. */
describe('the command after-restore', () => {
  let given: TestContext
  let seeded: Seed
  let printed: string[]
  before(async () => {
    given = await openTestContext()
    for (const mode of ['test', 'live'] as const) {
      given.chains[mode].startSeconds = BigInt(Math.floor(given.clock.now().getTime() / 1_000)) - 1_000n
      await compareLedger(given.context, { mode })
    }
    seeded = await seed(given.context)
    const payment = expectPayment(
      await createPayment(given.context, paymentRequest(seeded, { amountUsdc: '1.25', idempotencyKey: 'lost' })),
      'created',
    )
    const chain = given.chains.test
    chain.head += 1n
    chain.receipts.set(payment.txHash ?? '', {
      ...{ contract: given.context.chains.test.usdc, from: seeded.wallet, to: RECIPIENT },
      ...{ amountMicro: 1_250_000n, blockNumber: chain.head },
    })
    await readRows(given.context.db, 'delete from payments where id = $1', [payment.id])
  })
  beforeEach(() => {
    printed = []
  })
  after(() => given.close())

  test('only compares, unless it is told to end what the backup brings back', async () => {
    assert.deepEqual(await run({ confirmed: false }), { isFinished: false })
    assert.match(printed.join('\n'), /Transfers that no payment explains: 1\./)
    assert.match(printed.join('\n'), /test transfer 1\.25 USDC from 0x/)
    assert.deepEqual(await listHeld(), [])
  })

  test('holds the API keys and says when it can be finished; later it finishes, and holds nothing again', async () => {
    assert.deepEqual(await run({ confirmed: true }), { isFinished: false })
    assert.equal((await listHeld()).length, 1)
    assert.match(printed.join('\n'), /Run this command again after that time/)
    await readRows(given.context.db, 'update api_keys set confirmed_at = held_at where workspace_id = $1', [
      seeded.workspace.id,
    ])
    given.clock.setOffset(LOST_AUTHORIZATION_MS + 1_000)
    assert.deepEqual(await run({ confirmed: true }), { isFinished: true })
    assert.deepEqual(await listHeld(), [])
  })

  test('compares the blocks since a time again', async () => {
    const chain = given.chains.test
    chain.head += 50n
    await run({ confirmed: false })
    await readRows(given.context.db, 'delete from unexplained_transfers where workspace_id = $1', [seeded.workspace.id])
    await run({ confirmed: false })
    assert.match(printed.join('\n'), /no payment explains: 0\./)
    const minedAt = new Date(Number(chain.startSeconds + (chain.head - 50n) * 2n) * 1_000)
    await run({ confirmed: false, since: minedAt })
    assert.match(printed.join('\n'), /no payment explains: 1\./)
  })

  async function run(options: Partial<AfterRestoreOptions>): Promise<{ isFinished: boolean }> {
    printed = []
    return await runAfterRestore(given.context, {
      ...{ since: null, confirmed: false, newLog: false, print: (line) => printed.push(line) },
      ...options,
    })
  }

  async function listHeld(): Promise<unknown[]> {
    const text = 'select id from api_keys where workspace_id = $1 and held_at is not null and confirmed_at is null'
    return await readRows(given.context.db, text, [seeded.workspace.id])
  }
})
