import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { listDeposits, listToldDeposits, pay } from '../../../../test/support/context/deposit-rows.ts'
import { seed, seedWallet } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { RpcRefusal, type FakeChain, type FakeLog } from '../../../../test/support/wires/fake-chain.ts'
import { countBlocks, limitLogRanges } from '../../../../test/support/wires/limit-log-ranges.ts'
import { ChainUnavailable } from '../../chain/errors.ts'
import { createLogger } from '../../lib/logger.ts'
import type { Address } from '../../values/address.ts'
import { findCursor } from './deposits-store.ts'
import { followDeposits } from './follow-deposits.ts'
import { REREAD_BLOCKS_MIN, REREAD_DEPTH } from './read-again.ts'

const START = 5_000n
/** After so many further blocks, the first of them has been read again. */
const UNTIL_REREAD = REREAD_DEPTH + REREAD_BLOCKS_MIN

/**
 * Nodes sometimes leave out logs. The machine that responds may lag, or may not have indexed the newest block yet. Then
 * the block call of the same request succeeds, and the list of logs is empty.
 */
describe('deposits whose logs a node left out', () => {
  let given: TestContext
  let chain: FakeChain
  let wallet: Address
  beforeEach(async () => {
    given = await openTestContext()
    chain = given.chains.test
    chain.head = START
    wallet = await seedWallet(given.context, await seed(given.context))
    await advance(0n)
  })
  afterEach(() => given.close())

  test('the second reading finds a deposit that the first one missed, once and with one event', async () => {
    const [before, missed] = [payAt(START + 1n), payAt(START + 1n)]
    chain.isLeftOut = ({ txHash }) => txHash === missed.txHash
    await advance(1n)
    assert.deepEqual(await told(), [before.txHash])
    chain.isLeftOut = () => false
    await advance(UNTIL_REREAD - 2n)
    assert.deepEqual(await told(), [before.txHash])
    for (let times = 0; times < 3; times += 1) {
      await advance(UNTIL_REREAD)
      assert.deepEqual(await told(), [before.txHash, missed.txHash].toSorted())
    }
  })

  test('a deposit that was left out while thousands of blocks were read is found in the same way', async () => {
    const missed = payAt(START + 1_700n)
    chain.isLeftOut = () => true
    chain.head += 4_000n
    assert.equal(await follow(), false)
    assert.equal(await follow(), false)
    chain.isLeftOut = () => false
    await advance(0n)
    assert.deepEqual(await told(), [missed.txHash])
    const found = await given.context.db.read(findCursor('test'))
    assert.equal(found?.rereadBlock, chain.head - REREAD_DEPTH)
  })

  test('each block is read again once, together with others', async () => {
    const ranges: bigint[] = []
    chain.intercept = (call) => void ranges.push(...[countBlocks(call)].filter((blocks) => blocks > 1n))
    for (let block = 0n; block < UNTIL_REREAD + REREAD_BLOCKS_MIN; block += 1n) await advance(1n)
    assert.deepEqual(ranges, [REREAD_BLOCKS_MIN, REREAD_BLOCKS_MIN])
  })

  test('at a node that allows one block in a query, blocks are read again too', async () => {
    const missed = payAt(START + 2n)
    chain.intercept = limitLogRanges(1n)
    chain.isLeftOut = () => true
    for (let block = 0n; block < 3n; block += 1n) await advance(1n)
    chain.isLeftOut = () => false
    for (let block = 0n; block < UNTIL_REREAD; block += 1n) await advance(1n)
    assert.deepEqual(await told(), [missed.txHash])
  })

  test('while the second reading fails, new deposits are found', async () => {
    await advance(1n)
    chain.intercept = (call) => {
      const isDeep = call.method === 'eth_getBlockByNumber' && BigInt(String(call.params[0])) === START + 1n
      if (isDeep) throw new RpcRefusal(-32000)
    }
    const paid = payAt(START + UNTIL_REREAD)
    await assert.rejects(advance(UNTIL_REREAD - 1n), ChainUnavailable)
    assert.deepEqual(await told(), [paid.txHash])
  })

  test('two processes read the same blocks again: each deposit has one event', async () => {
    const missed = payAt(START + 1n)
    chain.isLeftOut = () => true
    await advance(UNTIL_REREAD - 1n)
    chain.isLeftOut = () => false
    chain.head += 1n
    const another = given.openAnother()
    await Promise.all([follow(), follow(another)])
    await advance(0n)
    assert.deepEqual(await told(), [missed.txHash])
  })

  test('the operator reads in the log that a node left out a deposit', async () => {
    const logged: unknown[] = []
    const logger = Object.assign(createLogger('silent'), { warn: (fields: unknown) => logged.push(fields) })
    const missed = payAt(START + 1n)
    chain.isLeftOut = () => true
    await advance(1n)
    chain.isLeftOut = () => false
    chain.head += UNTIL_REREAD
    while (!(await follow({ ...given.context, logger })));
    assert.deepEqual(logged, [{ mode: 'test', wallet, tx: missed.txHash }])
  })

  function payAt(blockNumber: bigint): FakeLog {
    return pay(given.context, chain, { to: wallet, blockNumber })
  }

  /** Adds blocks, and reads as the job does, until nothing is left to read. */
  async function advance(blocks: bigint): Promise<void> {
    chain.head += blocks
    while (!(await follow()));
  }

  async function follow(ctx = given.context): Promise<boolean> {
    return await followDeposits(ctx, { mode: 'test', confirmedBlock: chain.head })
  }

  /** Returns the transactions of the wallet's deposits, and checks that each has one event. */
  async function told(): Promise<string[]> {
    const deposits = (await listDeposits(given.context, wallet)).map((row) => String(row['tx_hash']))
    assert.deepEqual((await listToldDeposits(given.context, wallet)).toSorted(), deposits.toSorted())
    return deposits
  }
})
