import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { listToldDeposits, pay, readCursor } from '../../../../test/support/context/deposit-rows.ts'
import { addWallets, numbered } from '../../../../test/support/context/many-wallets.ts'
import { RpcRefusal, type FakeChain } from '../../../../test/support/wires/fake-chain.ts'
import { countBlocks } from '../../../../test/support/wires/limit-log-ranges.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { RECIPIENT, seed, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { BLOCKS_PER_FULL_QUERY } from '../../chain/adaptive-size.ts'
import { LOGS_PER_READ_MAX } from '../../chain/transfer-log.ts'
import type { Address } from '../../values/address.ts'
import { followDeposits } from './follow-deposits.ts'
import { FILTERED_WALLETS_MAX } from './read-transfers.ts'

const START = 1_000n
/** The number of USDC transfers in each block of this test. A block on Base has about as many. */
const TRANSFERS_PER_BLOCK = 100

describe('reading the transfers to many wallets', () => {
  let given: TestContext
  let chain: FakeChain
  let seeded: Seed
  let wallet: Address
  beforeEach(async () => {
    given = await openTestContext()
    chain = given.chains.test
    seeded = await seed(given.context)
    wallet = await seedWallet(given.context, seeded)
    chain.head = START
    await follow()
  })
  afterEach(() => given.close())

  /**
   * The highest allowed cost, by the number of wallets. For comparison, asking the nodes about each wallet costs 34
   * requests with 145 calls and 732 KB per block at 10,000 wallets, and 304 requests with 1,405 calls and 7.3 MB at
   * 100,000 wallets.
   */
  const costs = [
    { wallets: 10, bytesMax: 5_000 },
    { wallets: 1_000, bytesMax: 90_000 },
    { wallets: 100_000, bytesMax: 90_000 },
  ]
  for (const { wallets, bytesMax } of costs) {
    test(`a block costs 2 requests with 2 calls, of at most ${bytesMax} bytes, at ${wallets} wallets`, async (t) => {
      await addWallets(given.context, wallet, wallets)
      const some = [wallet, numbered(1), numbered(wallets)]
      // The first round is not measured, because it also asks for the chain id.
      chain.head += 1n
      await follow()
      chain.head += 1n
      for (let n = 0; n < TRANSFERS_PER_BLOCK; n += 1) pay(given.context, chain, { to: some[n] ?? RECIPIENT })
      const requests = await count(follow)
      t.diagnostic(`${wallets} wallets: ${JSON.stringify(requests)}`)
      assert.deepEqual([requests.requests, requests.calls], [2, 2])
      assert.ok(requests.bytes <= bytesMax, String(requests.bytes))
      for (const to of some) assert.equal((await listToldDeposits(given.context, to)).length, 1)
      assert.deepEqual(await count(follow), { requests: 0, calls: 0, bytes: 0 })
    })
  }

  test('up to 300 wallets, nodes are asked only for transfers to them; with more, for all transfers', async () => {
    const filters: unknown[] = []
    chain.intercept = ({ method, params }) => {
      if (method === 'eth_getLogs') filters.push((params[0] as { topics: unknown[][] }).topics[2]?.length ?? null)
    }
    const wallets = await readRows(given.context.db, "select 1 from wallets where mode = 'test'")
    await addWallets(given.context, wallet, FILTERED_WALLETS_MAX - wallets.length)
    chain.head += 1n
    await follow()
    await seedWallet(given.context, seeded)
    chain.head += 1n
    await follow()
    assert.deepEqual(filters, [100, 100, 100, null])
  })

  test('if all transfers are read, only those to wallets of the mode become deposits', async () => {
    await addWallets(given.context, wallet, FILTERED_WALLETS_MAX)
    const live = await seedWallet(given.context, { workspace: seeded.workspace, mode: 'live' })
    chain.head += 3n
    const paid = pay(given.context, chain, { to: wallet, blockNumber: START + 2n })
    for (const to of [live, RECIPIENT]) pay(given.context, chain, { to })
    pay(given.context, chain, { to: wallet, contract: `0x${'8'.repeat(40)}` })
    pay(given.context, chain, { to: wallet, amountMicro: 0n })
    assert.equal(await follow(), true)
    assert.deepEqual(await listToldDeposits(given.context, wallet), [paid.txHash])
    assert.equal((await readRows(given.context.db, 'select 1 from deposits')).length, 1)
  })

  test('unread blocks are read in ranges that contain a limited number of transfers', async () => {
    await addWallets(given.context, wallet, FILTERED_WALLETS_MAX)
    chain.head += 2n * BigInt(BLOCKS_PER_FULL_QUERY.max)
    const paid = [1n, 100n].map((after) => pay(given.context, chain, { to: wallet, blockNumber: START + after }).txHash)
    assert.equal(await follow(), false)
    assert.equal((await readCursor(given.context))?.blockNumber, START + BigInt(BLOCKS_PER_FULL_QUERY.max))
    await follow()
    assert.equal((await readCursor(given.context))?.blockNumber, chain.head)
    assert.deepEqual((await listToldDeposits(given.context, wallet)).toSorted(), paid.toSorted())
  })

  test('a range with more logs than the limit is refused, and half as many blocks are read', async () => {
    await addWallets(given.context, wallet, FILTERED_WALLETS_MAX)
    chain.head += 20n
    const tooMany = Array.from({ length: LOGS_PER_READ_MAX + 1 }, () => ({}))
    chain.intercept = (call) => (countBlocks(call) > 10n ? tooMany : undefined)
    assert.equal(await follow(), false)
    assert.equal((await readCursor(given.context))?.blockNumber, START + 10n)
  })

  test('a block with too many transfers is read with filters for our wallets, one page of wallets at a time', async () => {
    await addWallets(given.context, wallet, 2_500)
    const some = [1, 1_000, 1_001, 2_000, 2_500].map(numbered)
    chain.head += 1n
    for (const to of some) pay(given.context, chain, { to })
    const recipients = new Set<string>()
    chain.intercept = ({ method, params }) => {
      if (method !== 'eth_getLogs') return
      const filter = (params[0] as { topics: (string[] | null)[] }).topics[2]
      if (!filter) throw new RpcRefusal(-32005)
      for (const recipient of filter) recipients.add(recipient)
    }
    await follow()
    for (const to of some) assert.equal((await listToldDeposits(given.context, to)).length, 1)
    assert.ok(recipients.size > 2_500)
    assert.equal((await readCursor(given.context))?.blockNumber, START + 1n)

    // The chain reorganizes between the first page and the second.
    const refuseAll = chain.intercept
    let asked = 0
    let paging = false
    chain.head += 1n
    chain.intercept = (call) => {
      const isLogs = call.method === 'eth_getLogs'
      paging ||= isLogs && (call.params[0] as { topics: unknown[] }).topics.length > 1
      if (paging && call.method === 'eth_getBlockByNumber' && (asked += 1) === 2) chain.reorganize(1)
      return refuseAll(call)
    }
    await assert.rejects(follow(), /reorganized while/)
    assert.equal((await readCursor(given.context))?.blockNumber, START + 1n)
  })

  /** Reads up to the head of the chain. */
  function follow(): Promise<boolean> {
    return followDeposits(given.context, { mode: 'test', confirmedBlock: chain.head })
  }

  /** Measures how many requests and bytes `work` sends to the node. */
  async function count(work: () => Promise<unknown>): Promise<Pick<FakeChain, 'requests' | 'calls' | 'bytes'>> {
    Object.assign(chain, { requests: 0, calls: 0, bytes: 0 })
    await work()
    const { requests, calls, bytes } = chain
    return { requests, calls, bytes }
  }
})
