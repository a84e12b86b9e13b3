import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { frozenAt } from '../../../../test/support/context/moved-clock.ts'
import { seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { ChainUnavailable } from '../../chain/errors.ts'
import { recordBalances } from './record-balances.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')
const MINUTE_MS = 60_000

describe('the stored balances of wallets', () => {
  let given: TestContext
  let seeded: Seed
  before(async () => {
    given = await openTestContext()
    seeded = await seed(given.context)
  })
  after(() => given.close())

  test('are those of the newest block, and are written again when they change or grow old', async () => {
    const { test: chain } = given.chains
    chain.balances.set(seeded.wallet.toLowerCase(), 7n)
    await record(NOW)
    assert.deepEqual(await stored(), [['7', '100', NOW]])
    chain.head += 1n
    await record(new Date(NOW.getTime() + MINUTE_MS))
    assert.deepEqual(await stored(), [['7', '100', NOW]])
    chain.balances.set(seeded.wallet.toLowerCase(), 8n)
    await record(new Date(NOW.getTime() + MINUTE_MS))
    assert.deepEqual(await stored(), [['8', '101', new Date(NOW.getTime() + MINUTE_MS)]])
    const later = new Date(NOW.getTime() + 3 * MINUTE_MS)
    await record(later)
    assert.deepEqual(await stored(), [['8', '101', later]])
    chain.head -= 1n
    chain.balances.set(seeded.wallet.toLowerCase(), 9n)
    await record(later)
    assert.deepEqual(await stored(), [['8', '101', later]])
  })

  test('keep their time while the chain does not respond, and do not mix modes', async (t) => {
    const before = await stored()
    given.chains.test.down = true
    t.after(() => (given.chains.test.down = false))
    await assert.rejects(record(new Date(NOW.getTime() + 60 * MINUTE_MS)), ChainUnavailable)
    assert.equal(await record(NOW, 'live'), null)
    assert.deepEqual(await stored(), before)
  })

  function record(at: Date, mode: 'test' | 'live' = 'test') {
    return recordBalances(frozenAt(given.context, at), { mode, after: null, signal: new AbortController().signal })
  }

  async function stored() {
    const rows = await readRows(given.context.db, 'select balance_micro, block_number, read_at from wallet_balances')
    return rows.map(({ balance_micro: balance, block_number: block, read_at: at }) => [balance, block, at])
  }
})
