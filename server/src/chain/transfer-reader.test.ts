import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { pino } from 'pino'
import { RpcRefusal, startFakeChain, type FakeChain, type RpcCall } from '../../../test/support/wires/fake-chain.ts'
import { address } from '../../../test/support/context/seed.ts'
import type { Address } from '../values/address.ts'
import { ChainUnavailable } from './errors.ts'
import { openChain, type Chain } from './open-chain.ts'
import { ADDRESSES_PER_READ_MAX } from './address-filters.ts'

const CHAIN_ID = 84532
const USDC = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
const PAYER = address('0x52908400098527886e0f7030069857d2e4169ee7')
const WALLET = address('0x8617e340b3d01fa5f11f306f4090fd50e238070d')
/** A time limit that is long enough for a busy machine. */
const TIMEOUT_MS = 20_000
const RANGE = { from: 91n, to: 100n, recipients: [WALLET] }

describe('readTransfers', () => {
  let nodes: readonly [FakeChain, FakeChain]
  let chain: Chain
  before(async () => {
    nodes = [await startFakeChain(CHAIN_ID), await startFakeChain(CHAIN_ID)]
  })
  beforeEach(() => {
    for (const node of nodes) Object.assign(node, { head: 100n, calls: 0, down: false, intercept: () => undefined })
    for (const node of nodes) node.logs.length = 0
    chain = open(nodes)
  })
  afterEach(() => chain.close())
  after(() => Promise.all(nodes.map((node) => node.close())))

  it('reads the transfers to the recipients, and the hashes around them', async () => {
    put(nodes[0], { blockNumber: 90n }, { blockNumber: 91n }, { blockNumber: 95n, to: PAYER }, { blockNumber: 100n })
    const { transfers, parentHash, blockHash } = await chain.readTransfers(RANGE)
    assert.deepEqual(
      transfers.map(({ blockNumber }) => blockNumber),
      [91n, 100n],
    )
    assert.equal(parentHash, await chain.readBlockHash(90n))
    assert.equal(blockHash, await chain.readBlockHash(100n))
    assert.equal(transfers[1]?.blockHash, blockHash)
  })

  it('asks for a hundred recipients at a time, in one batch', async () => {
    const recipients = makeAddresses(250)
    put(nodes[0], ...recipients.map((to) => ({ to })))
    const filters: number[] = []
    nodes[0].intercept = ({ method, params }) => {
      const { topics, fromBlock } = (params[0] ?? {}) as { topics: unknown[][]; fromBlock?: string }
      if (method === 'eth_getLogs' && fromBlock !== undefined) filters.push(topics[2]?.length ?? 0)
    }
    const { transfers } = await chain.readTransfers({ ...RANGE, recipients })
    assert.deepEqual(filters, [100, 100, 50])
    assert.deepEqual(
      transfers.map(({ to }) => to),
      recipients,
    )
  })

  it('reads only the hashes if there are no recipients', async () => {
    nodes[0].intercept = refuse('eth_getLogs')
    const { transfers, blockHash } = await chain.readTransfers({ ...RANGE, recipients: [] })
    assert.deepEqual(transfers, [])
    assert.equal(blockHash, await chain.readBlockHash(100n))
  })

  it('reads blocks a second time from the last node, and from the others if it fails', async () => {
    put(nodes[0], { blockNumber: 95n })
    put(nodes[1], { blockNumber: 96n })
    const read = async (change: { isSecond?: boolean }): Promise<bigint[]> =>
      (await chain.readTransfers({ ...RANGE, ...change })).transfers.map(({ blockNumber }) => blockNumber)
    assert.deepEqual(await read({}), [95n])
    assert.deepEqual(await read({ isSecond: true }), [96n])
    nodes[1].down = true
    assert.deepEqual(await read({ isSecond: true }), [95n])
  })

  it('rejects too many recipients, and an empty range', async () => {
    const recipients = makeAddresses(ADDRESSES_PER_READ_MAX + 1)
    await assert.rejects(chain.readTransfers({ ...RANGE, recipients }), RangeError)
    await assert.rejects(chain.readTransfers({ ...RANGE, from: 101n }), RangeError)
    await assert.rejects(chain.readTransfers({ ...RANGE, from: 0n }), RangeError)
  })

  const FAULTS: [string, FakeChain['intercept']][] = [
    ['refuses the range', refuse('eth_getLogs')],
    ['lags behind the head that it told', answer('eth_getBlockByNumber', () => null)],
    ['answers with no list', answer('eth_getLogs', () => ({}))],
    ['answers with logs that are none', answer('eth_getLogs', () => [null])],
    ['answers with another block', answer('eth_getBlockByNumber', () => ({ number: '0x1' }))],
  ]
  for (const [name, intercept] of FAULTS) {
    it(`skips a node that ${name}`, async () => {
      put(nodes[1], { blockNumber: 95n })
      nodes[0].intercept = intercept
      assert.equal((await chain.readTransfers(RANGE)).transfers.length, 1)
      nodes[1].intercept = intercept
      await assert.rejects(chain.readTransfers(RANGE), ChainUnavailable)
    })

    it(`still uses a node that ${name} for payments`, async () => {
      nodes[0].intercept = intercept
      nodes[1].head = 120n
      await chain.readTransfers(RANGE)
      assert.equal(await chain.readHead(), 100n)
    })
  }

  it('does not mistake missing blocks of a node for a range without transfers', async () => {
    // Several machines respond for this node: the first one has the block, the next one does not.
    let asked = 0
    nodes[0].intercept = answer('eth_getBlockByNumber', ({ params }) => {
      if (params[0] === '0x64') asked += 1
      return params[0] === '0x64' && asked === 2 ? null : undefined
    })
    put(nodes[1], { blockNumber: 100n })
    assert.equal((await chain.readTransfers(RANGE)).transfers.length, 1)
    assert.ok(asked >= 2)
  })

  const MOMENTS: [string, number][] = [
    ['before the logs are read', 2],
    ['after the logs are read', 3],
  ]
  for (const [name, call] of MOMENTS) {
    it(`returns one fork, never two, if the chain reorganizes ${name}`, async () => {
      put(nodes[0], { blockNumber: 99n })
      put(nodes[1], { blockNumber: 98n }, { blockNumber: 99n })
      let asked = 0
      nodes[0].intercept = answer('eth_getBlockByNumber', () => {
        asked += 1
        if (asked === call) nodes[0].reorganize(3)
      })
      assert.equal((await chain.readTransfers(RANGE)).transfers.length, 2)
      assert.equal(asked, 3)
    })
  }

  it('starts again at the second node if the first one fails in the middle', async () => {
    put(nodes[1], { blockNumber: 95n })
    nodes[0].intercept = ({ method }) => {
      if (method === 'eth_getLogs') nodes[0].down = true
      if (nodes[0].down) throw new RpcRefusal(-32000)
    }
    const asked: string[] = []
    nodes[1].intercept = ({ method }) => void asked.push(method)
    assert.equal((await chain.readTransfers(RANGE)).transfers.length, 1)
    assert.deepEqual(asked, [
      'eth_chainId',
      'eth_getBlockByNumber',
      'eth_getLogs',
      'eth_getBlockByNumber',
      'eth_getLogs',
      'eth_getBlockByNumber',
    ])
  })

  it('returns no hash of a block that no node has', async () => {
    await assert.rejects(chain.readBlockHash(101n), ChainUnavailable)
    nodes[1].head = 101n
    assert.match(await chain.readBlockHash(101n), /^0x[0-9a-f]{64}$/)
  })
})

function open(nodes: readonly FakeChain[]): Chain {
  const rpcUrls = nodes.map(({ url }) => url)
  const options = { mode: 'test', chainId: CHAIN_ID, rpcUrls, usdc: USDC, confirmations: 1 } as const
  return openChain({ ...options, timeoutMs: TIMEOUT_MS }, { logger: pino({ level: 'silent' }) })
}

function put(node: FakeChain, ...logs: { blockNumber?: bigint; to?: Address }[]): void {
  for (const log of logs) {
    const txHash = `0x${(node.logs.length + 1).toString(16).padStart(64, '0')}` as const
    node.logs.push({ txHash, blockNumber: 95n, contract: USDC, from: PAYER, to: WALLET, amountMicro: 7n, ...log })
  }
}

function makeAddresses(count: number): Address[] {
  return Array.from({ length: count }, (_, index) => address(`0x${(index + 1).toString(16).padStart(40, '0')}`))
}

function refuse(refused: string): FakeChain['intercept'] {
  return answer(refused, () => {
    throw new RpcRefusal(-32005)
  })
}

function answer(answered: string, make: (call: RpcCall) => unknown): FakeChain['intercept'] {
  return (call) => (call.method === answered ? make(call) : undefined)
}
