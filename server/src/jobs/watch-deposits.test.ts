import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { listToldDeposits, pay, readCursor } from '../../../test/support/context/deposit-rows.ts'
import { RpcRefusal, type FakeChain, type FakeLog } from '../../../test/support/wires/fake-chain.ts'
import { limitLogRanges } from '../../../test/support/wires/limit-log-ranges.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { RECIPIENT, seed, seedWallet, type Seed } from '../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { Context } from '../domain/context.ts'
import type { Loop } from '../lib/loop.ts'
import type { Address } from '../values/address.ts'
import { watchDeposits } from './watch-deposits.ts'

const START = 1_000n
const LOGS_RANGE_MAX = 64n

for (const confirmations of [1, 4]) {
  describe(`watching deposits at a depth of ${confirmations}`, () => {
    const shore = useShore(confirmations)

    test('a deposit gets its event when its block is deep enough, and not earlier', async () => {
      const { chain } = shore
      await shore.watch()
      chain.head = START + 1n
      const paid = shore.pay(START + 1n)
      for (let depth = 1; depth < confirmations; depth += 1) {
        await shore.readUpTo(chain.head - BigInt(confirmations) + 1n)
        assert.deepEqual(await shore.told(), [])
        chain.head += 1n
      }
      await shore.readUpTo(START + 1n)
      assert.deepEqual(await shore.told(), [paid.txHash])
    })

    test('a reorganization of 3 blocks: a deposit that is mined again has one event; one that is gone has an event only if it was deep enough', async () => {
      const { chain, given } = shore
      const loser = await shore.openWallet()
      await shore.watch()
      chain.head = START + 3n
      const [kept, lost] = [shore.pay(START + 1n), shore.pay(START + 1n, { to: loser })]
      await shore.readUpTo(chain.head - BigInt(confirmations) + 1n)
      chain.reorganize(3)
      shore.pay(START + 2n, { to: RECIPIENT })
      chain.logs.push({ ...kept, blockNumber: START + 2n })
      chain.head = START + 9n
      await shore.readUpTo(chain.head - BigInt(confirmations) + 1n)
      assert.deepEqual(await shore.told(), [kept.txHash])
      assert.deepEqual(await listToldDeposits(given.context, loser), confirmations === 1 ? [lost.txHash] : [])
      // In statements, a deposit counts in the block that contains it now, and one that is gone does not count.
      const stored = await readRows(
        given.context.db,
        'select tx_hash, block_number::int, vanished_at is null as is_there from deposits where tx_hash = any($1)',
        [[kept.txHash, lost.txHash]],
      )
      const byHash = new Map(stored.map((row) => [row['tx_hash'], [row['block_number'], row['is_there']]]))
      assert.deepEqual(byHash.get(kept.txHash), [Number(START) + 2, true])
      assert.deepEqual(byHash.get(lost.txHash), confirmations === 1 ? [Number(START) + 1, false] : undefined)
    })
  })
}

describe('watching deposits', () => {
  const shore = useShore(1)

  test('one of two processes reads; when it stops, the other continues, and no event is repeated', async () => {
    const { chain, given } = shore
    const first = await shore.watch()
    await shore.watch(given.openAnother())
    chain.head = START + 1n
    const before = shore.pay(chain.head)
    await shore.readUpTo(chain.head)
    await first.stop()
    chain.head = START + 2n
    const after = shore.pay(chain.head)
    await shore.readUpTo(chain.head)
    assert.deepEqual(await shore.told(), [before.txHash, after.txHash].toSorted())
  })

  test('deposits from thousands of blocks without a watcher are found when one starts', async () => {
    const { chain, given } = shore
    await (await shore.watch()).stop()
    const paid = [1n, 4_000n, 15_000n].map((after) => shore.pay(START + after).txHash)
    chain.head = START + 15_000n
    await shore.watch(given.openAnother())
    await shore.readUpTo(chain.head)
    assert.deepEqual(await shore.told(), paid.toSorted())
  })

  test('smaller ranges are read from a node that refuses large ones', async () => {
    const { chain } = shore
    await (await shore.watch()).stop()
    const paid = [1n, LOGS_RANGE_MAX, LOGS_RANGE_MAX + 1n, 400n].map((after) => shore.pay(START + after).txHash)
    chain.head = START + 400n
    chain.intercept = limitLogRanges(LOGS_RANGE_MAX)
    await shore.watch()
    await shore.readUpTo(chain.head)
    assert.deepEqual(await shore.told(), paid.toSorted())
  })

  test('if a node does not have the head that it reported, reading continues to the last block it has, and is repeated later', async () => {
    const { chain } = shore
    await shore.watch()
    const [known, told] = [START + 10n, START + 20n]
    const paid = [shore.pay(known).txHash, shore.pay(told).txHash]
    chain.intercept = ({ method }) => (method === 'eth_blockNumber' ? `0x${told.toString(16)}` : undefined)
    chain.head = known
    await shore.readUpTo(known)
    chain.head = told
    await shore.readUpTo(told)
    assert.deepEqual(await shore.told(), paid.toSorted())
  })

  test('while the head stays the same, a round costs one request with one call', async () => {
    const { chain } = shore
    await shore.watch()
    chain.head += 1n
    await shore.readUpTo(chain.head)
    let heads = 0
    chain.intercept = ({ method }) => void (heads += method === 'eth_blockNumber' ? 1 : 0)
    Object.assign(chain, { requests: 0, calls: 0 })
    await waitFor('three rounds', () => heads >= 3)
    assert.deepEqual([chain.requests, chain.calls], [heads, heads])
  })

  test('after an outage, reading continues where it stopped', async () => {
    const { chain } = shore
    await shore.watch()
    let refused = 0
    chain.intercept = () => {
      refused += 1
      throw new RpcRefusal(-32000)
    }
    chain.head = START + 5n
    const paid = shore.pay(START + 3n)
    await waitFor('rounds that fail', () => refused > 1)
    chain.intercept = () => undefined
    await shore.readUpTo(chain.head)
    assert.deepEqual(await shore.told(), [paid.txHash])
  })
})

test('a chain with fewer blocks than its depth is read from its first block on', async () => {
  const given = await openTestContext((config) => {
    const test = { ...config.chains.test, confirmations: 4 }
    return { ...config, chains: { ...config.chains, test } }
  })
  const chain = given.chains.test
  chain.head = 0n
  const wallet = await seedWallet(given.context, await seed(given.context))
  const loop = watchDeposits(given.context, { mode: 'test', holder: 'holder' })
  try {
    await waitFor('reading begins', async () => (await readCursor(given.context))?.blockNumber === 0n)
    const paid = pay(given.context, chain, { to: wallet, blockNumber: 1n })
    chain.head = 4n
    await waitFor('its block is read', async () => (await readCursor(given.context))?.blockNumber === 1n)
    assert.deepEqual(await listToldDeposits(given.context, wallet), [paid.txHash])
  } finally {
    await loop.stop()
    await given.close()
  }
})

/** A chain, a wallet on it, and watchers; new for each test. */
interface Shore {
  readonly given: TestContext
  readonly chain: FakeChain
  pay(blockNumber: bigint, change?: Partial<FakeLog>): FakeLog
  /** Starts a watcher of deposits, and waits until its first round has begun. */
  watch(ctx?: Context): Promise<Loop>
  readUpTo(block: bigint): Promise<void>
  openWallet(): Promise<Address>
  /** Returns the transaction hashes of the wallet's deposit events, one per event, in alphabetical order. */
  told(): Promise<string[]>
}

function useShore(confirmations: number): Shore {
  const opened: { given?: TestContext; seeded?: Seed; wallet?: Address } = {}
  const loops: Loop[] = []
  before(async () => {
    opened.given = await openTestContext((config) => {
      const test = { ...config.chains.test, confirmations }
      return { ...config, chains: { ...config.chains, test } }
    })
    opened.seeded = await seed(opened.given.context)
  })
  beforeEach(async () => {
    const { given } = shore
    await readRows(given.context.db, 'delete from deposit_cursors')
    Object.assign(shore.chain, { head: START, intercept: () => undefined })
    shore.chain.logs.length = 0
    opened.wallet = await shore.openWallet()
  })
  afterEach(() => Promise.all(loops.splice(0).map((loop) => loop.stop())))
  after(() => shore.given.close())

  const shore: Shore = {
    get given() {
      return use(opened.given)
    },
    get chain() {
      return shore.given.chains.test
    },
    pay: (blockNumber, change) =>
      pay(shore.given.context, shore.chain, { to: use(opened.wallet), blockNumber, ...change }),
    async watch(ctx = shore.given.context) {
      const loop = watchDeposits(ctx, { mode: 'test', holder: `holder ${loops.length}` })
      loops.push(loop)
      await waitFor('reading begins', async () => (await readCursor(ctx)) !== null)
      return loop
    },
    async readUpTo(block) {
      const isRead = async (): Promise<boolean> =>
        ((await readCursor(shore.given.context))?.blockNumber ?? -1n) >= block
      await waitFor(`the chain is read up to ${block}`, isRead)
    },
    openWallet: () => seedWallet(shore.given.context, use(opened.seeded)),
    told: async () => (await listToldDeposits(shore.given.context, use(opened.wallet))).toSorted(),
  }
  return shore
}

function use<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined, 'it is opened before the first test')
  return value
}
