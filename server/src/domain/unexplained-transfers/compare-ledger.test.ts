import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { pay } from '../../../../test/support/context/deposit-rows.ts'
import { addWallets, numbered } from '../../../../test/support/context/many-wallets.ts'
import { RECIPIENT, seed, seedWallet } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import type { FakeChain } from '../../../../test/support/wires/fake-chain.ts'
import { ADDRESSES_PER_READ_MAX } from '../../chain/address-filters.ts'
import type { Address } from '../../values/address.ts'
import { compareLedger } from './compare-ledger.ts'

const MINUTE_BLOCKS = 30n

describe('comparing the ledger of many wallets with the chain', () => {
  let given: TestContext
  let chain: FakeChain
  let wallet: Address
  beforeEach(async () => {
    given = await openTestContext()
    chain = given.chains.test
    wallet = await seedWallet(given.context, await seed(given.context))
    await compareNext()
  })
  afterEach(() => given.close())

  test('transfers out of every wallet are found', async () => {
    await addWallets(given.context, wallet, 2_500)
    const senders = [wallet, ...[1, 100, 101, 999, 1_000, 1_001, 2_500].map(numbered)]
    chain.head += MINUTE_BLOCKS
    const sent = senders.map((from) => pay(given.context, chain, { from, to: RECIPIENT }).txHash)
    // A transfer between two wallets is in the logs of its sender only.
    sent.push(pay(given.context, chain, { from: numbered(5), to: numbered(6) }).txHash)
    await compareNext()
    const rows = await readRows(given.context.db, 'select tx_hash from unexplained_transfers order by tx_hash')
    assert.deepEqual(
      rows.map((row) => row['tx_hash']),
      sent.toSorted(),
    )
  })

  for (const [wallets, requests] of [
    [10, 3],
    [ADDRESSES_PER_READ_MAX - 10, 3],
    [10 * ADDRESSES_PER_READ_MAX, 23],
  ] as const) {
    test(`a comparison costs ${requests} requests at ${wallets} wallets`, async () => {
      await addWallets(given.context, wallet, wallets)
      chain.head += MINUTE_BLOCKS
      await compareNext()
      chain.head += MINUTE_BLOCKS
      chain.requests = 0
      await compareNext()
      assert.equal(chain.requests, requests)
    })
  }

  async function compareNext(): Promise<void> {
    await compareLedger(given.context, { mode: 'test' })
  }
})
