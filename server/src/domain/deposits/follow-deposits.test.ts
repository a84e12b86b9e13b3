import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { listDeposits, listToldDeposits, pay, readCursor } from '../../../../test/support/context/deposit-rows.ts'
import type { FakeChain } from '../../../../test/support/wires/fake-chain.ts'
import { countBlocks, limitLogRanges, RANGE_REFUSALS } from '../../../../test/support/wires/limit-log-ranges.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { RECIPIENT, seed, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { BLOCKS_PER_QUERY } from '../../chain/adaptive-size.ts'
import { ChainBehind, ChainUnavailable } from '../../chain/errors.ts'
import type { Address } from '../../values/address.ts'
import type { Context } from '../context.ts'
import { followDeposits } from './follow-deposits.ts'

const START = 1_000n
const REORGANIZED_BLOCKS_MAX = 128

describe('following deposits along the chain', () => {
  let given: TestContext
  let chain: FakeChain
  let seeded: Seed
  let wallet: Address
  before(async () => {
    given = await openTestContext()
    chain = given.chains.test
    seeded = await seed(given.context)
  })
  beforeEach(async () => {
    await readRows(given.context.db, 'delete from deposit_cursors')
    Object.assign(chain, { head: START, intercept: () => undefined })
    chain.logs.length = 0
    wallet = await seedWallet(given.context, seeded)
  })
  after(() => given.close())

  test('without a cursor, reading starts after the newest block that is deep enough', async () => {
    const [before, after] = [payAt(START), payAt(START + 1n)]
    assert.equal(await follow(), true)
    assert.equal((await readCursor(given.context))?.blockNumber, START)
    chain.head = START + 1n
    await follow()
    assert.deepEqual(await told(), [after.txHash])
    assert.notEqual(before.txHash, after.txHash)
  })

  test('no block above the newest one that is deep enough is read', async () => {
    await follow()
    payAt(START + 2n)
    chain.head = START + 5n
    assert.equal(await follow({ confirmedBlock: START + 1n }), true)
    assert.deepEqual(await told(), [])
    await follow({ confirmedBlock: START + 2n })
    assert.equal((await told()).length, 1)
  })

  test('10,000 unread blocks are read in chunks, and each deposit is recorded once', async () => {
    await follow()
    chain.head = START + 10_000n
    const paid = [1n, 1_000n, 1_001n, 5_555n, 10_000n].map((after) => payAt(START + after).txHash)
    const ranges: bigint[] = []
    chain.intercept = (call) => void ranges.push(countBlocks(call))
    const another = given.openAnother()
    let chunks = 0
    for (; (await readCursor(given.context))?.blockNumber !== chain.head; chunks += 1) await follow({ ctx: another })
    assert.equal(chunks, 10)
    assert.equal(Math.max(...ranges.map(Number)), BLOCKS_PER_QUERY.max)
    assert.deepEqual(await told(), paid)
    assert.equal((await readCursor(given.context))?.blockNumber, chain.head)
  })

  test('if a process stops, another one continues at the cursor', async () => {
    await follow()
    chain.head = START + 1n
    const first = pay(given.context, chain, { to: wallet })
    await follow()
    chain.head = START + 2_500n
    const second = payAt(START + 2n)
    const another = given.openAnother()
    while (!(await follow({ ctx: another })));
    assert.deepEqual(await told(), [first.txHash, second.txHash])
  })

  test('deposits to a wallet that is created later are found from then on', async () => {
    await follow()
    chain.head = START + 10n
    await follow()
    const late = await seedWallet(given.context, seeded)
    chain.head = START + 11n
    const paid = pay(given.context, chain, { to: late })
    await follow()
    assert.deepEqual(await listToldDeposits(given.context, late), [paid.txHash])
  })

  test('transfers to other addresses, and of other tokens, are ignored', async () => {
    await follow()
    chain.head = START + 1n
    pay(given.context, chain, { to: RECIPIENT })
    pay(given.context, chain, { to: wallet, contract: `0x${'8'.repeat(40)}` })
    pay(given.context, chain, { to: wallet, amountMicro: 0n })
    assert.equal(await follow(), true)
    assert.deepEqual(await told(), [])
  })

  test('if a node does not have the newest blocks yet, the blocks before them are read', async () => {
    await follow()
    chain.head = START + 5n
    const paid = [payAt(START + 3n).txHash, payAt(START + 5n).txHash]
    const lacks = (number: bigint): FakeChain['intercept'] => {
      return ({ method, params }) =>
        method === 'eth_getBlockByNumber' && BigInt(String(params[0])) >= number ? null : undefined
    }
    chain.intercept = lacks(START + 4n)
    while ((await readCursor(given.context))?.blockNumber !== START + 3n) await follow()
    await assert.rejects(follow({ confirmedBlock: START + 4n }), ChainBehind)
    chain.intercept = () => undefined
    assert.equal(await follow(), true)
    assert.deepEqual(await told(), paid)
  })

  for (const [name, code, message] of RANGE_REFUSALS) {
    test(`all deposits are found at a node that allows few blocks in a query, and refuses as ${name} does`, async () => {
      await follow()
      chain.head = START + 40n
      const paid = [1n, 2n, 20n, 40n].map((after) => payAt(START + after).txHash)
      const another = given.openAnother()
      chain.intercept = limitLogRanges(7n, { code, message })
      while (!(await follow({ ctx: another })));
      assert.deepEqual(await told(), paid)
    })
  }

  test('all deposits are found at a node that allows one block in a query', async () => {
    await follow()
    chain.head = START + 40n
    const paid = [1n, 2n, 20n, 40n].map((after) => payAt(START + after).txHash)
    const another = given.openAnother()
    chain.intercept = limitLogRanges(1n)
    while (!(await follow({ ctx: another })));
    assert.deepEqual(await told(), paid)
  })

  test('an outage does not reduce the ranges that are read after it', async () => {
    await follow()
    chain.head = START + 100n
    const another = given.openAnother()
    chain.down = true
    for (let round = 0; round < 3; round += 1) await assert.rejects(follow({ ctx: another }), ChainUnavailable)
    chain.down = false
    await follow({ ctx: another })
    assert.equal(await follow({ ctx: another }), true)
  })

  describe('after a reorganization', () => {
    test('the same transfer in another block and position stays one deposit with one event', async () => {
      await follow()
      chain.head = START + 3n
      const paid = payAt(START + 2n)
      await follow()
      const [taken] = chain.reorganize(3)
      assert.deepEqual(taken, paid)
      pay(given.context, chain, { to: RECIPIENT, blockNumber: START + 3n })
      chain.logs.push({ ...paid, blockNumber: START + 3n })
      chain.head = START + 4n
      await follow()
      assert.deepEqual(await told(), [paid.txHash])
      assert.equal((await readCursor(given.context))?.blockNumber, START + 4n)
    })

    test('transfers that are only in the new blocks are found, even below the cursor', async () => {
      await follow()
      chain.head = START + 3n
      await follow()
      chain.reorganize(3)
      const paid = payAt(START + 1n)
      assert.equal(await follow(), true)
      assert.deepEqual(await told(), [])
      chain.head = START + 4n
      await follow()
      assert.deepEqual(await told(), [paid.txHash])
    })

    test('blocks up to the depth limit are read again, in chunks as small as necessary', async () => {
      chain.head = START + 500n
      await follow()
      chain.reorganize(REORGANIZED_BLOCKS_MAX)
      const first = chain.head - BigInt(REORGANIZED_BLOCKS_MAX) + 1n
      const paid = [payAt(first).txHash, payAt(chain.head).txHash]
      chain.head += 1n
      while (!(await follow()));
      assert.deepEqual(await told(), paid)
    })

    test('while the new chain is shorter, nothing is read', async () => {
      chain.head = START + 5n
      await follow()
      chain.reorganize(5)
      chain.head = START + 3n
      assert.equal(await follow(), true)
      assert.equal((await readCursor(given.context))?.blockNumber, START + 5n)
      const paid = payAt(START + 2n)
      chain.head = START + 6n
      await follow()
      assert.deepEqual(await told(), [paid.txHash])
    })

    test('a reorganization just before the logs are read is noticed', async () => {
      await follow()
      chain.head = START + 3n
      await follow()
      chain.head = START + 6n
      let paid = ''
      chain.intercept = ({ method }) => {
        if (method !== 'eth_getBlockByNumber' || paid !== '') return
        chain.reorganize(5)
        paid = payAt(START + 2n).txHash
      }
      await follow()
      assert.deepEqual(await told(), [paid])
    })
  })

  /** Reads up to the head of the chain. */
  async function follow({
    ctx = given.context,
    confirmedBlock = chain.head,
  }: { ctx?: Context; confirmedBlock?: bigint } = {}): Promise<boolean> {
    return await followDeposits(ctx, { mode: 'test', confirmedBlock })
  }

  function payAt(blockNumber: bigint): ReturnType<typeof pay> {
    return pay(given.context, chain, { to: wallet, blockNumber })
  }

  async function told(): Promise<string[]> {
    const [events, deposits] = await Promise.all([
      listToldDeposits(given.context, wallet),
      listDeposits(given.context, wallet),
    ])
    assert.equal(events.length, deposits.length)
    // Do not compare the order, because events of the same millisecond have no defined order.
    return deposits.map((row) => String(row['tx_hash']))
  }
})
