import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { pino } from 'pino'
import { startFakeChain, type FakeChain } from '../../../test/support/wires/fake-chain.ts'
import { address } from '../../../test/support/context/seed.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { openChain, RECEIPTS_PER_BATCH_MAX, type Chain } from './open-chain.ts'

const CHAIN_ID = 84532
const USDC = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')

describe('the head of a chain', () => {
  let node: FakeChain
  let chain: Chain
  beforeEach(async () => {
    node = await startFakeChain(CHAIN_ID)
    const options = { mode: 'test', chainId: CHAIN_ID, rpcUrls: [node.url], usdc: USDC, confirmations: 1 } as const
    chain = openChain(options, { logger: pino({ level: 'silent' }) })
  })
  afterEach(async () => {
    chain.close()
    await node.close()
  })

  it('is read once for concurrent callers; those that come during the read share the next one', async () => {
    await Promise.all(Array.from({ length: 20 }, () => chain.readHead()))
    assert.equal(node.requests, 2)
  })

  it('is returned from memory while it is recent, and no longer', async () => {
    await chain.readHead()
    node.head += 1n
    assert.equal(await chain.readRecentHead(), node.head - 1n)
    assert.equal(node.requests, 1)
    await waitFor('it is read anew', async () => (await chain.readRecentHead()) === node.head)
    assert.equal(node.requests, 2)
  })

  it('is read with receipts in the same request', async () => {
    const { receipts, head } = await chain.readReceiptsAtHead(makeHashes(RECEIPTS_PER_BATCH_MAX))
    assert.deepEqual([receipts.size, head], [0, node.head])
    assert.equal(node.requests, 1)
    await assert.rejects(chain.readReceiptsAtHead([]), RangeError)
  })

  it('is the lower one if two requests return different heads', async () => {
    let told = 20n
    node.intercept = ({ method }) => (method === 'eth_blockNumber' ? `0x${(told -= 1n).toString(16)}` : undefined)
    assert.equal((await chain.readReceiptsAtHead(makeHashes(2 * RECEIPTS_PER_BATCH_MAX))).head, 18n)
  })
})

function makeHashes(count: number): `0x${string}`[] {
  return Array.from({ length: count }, (_, n): `0x${string}` => `0x${(n + 1).toString(16).padStart(64, '0')}`)
}
