import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { after, describe, it, type TestContext } from 'node:test'
import { pino } from 'pino'
import type { RpcCall } from '../../../test/support/wires/fake-chain.ts'
import { answerJson, startFakeServer, type FakeServer } from '../../../test/support/wires/fake-server.ts'
import { address } from '../../../test/support/context/seed.ts'
import { ChainBehind, ChainUnavailable } from './errors.ts'
import { openChain, type Chain } from './open-chain.ts'
import { NODE_COOLDOWN_MS, RETRY_AFTER_MS_MAX, RETRY_AFTER_MS_MIN } from './rpc-nodes.ts'

const CHAIN_ID = 84532
const USDC = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
/** A time limit that is long enough for a busy machine. */
const TIMEOUT_MS = 20_000
const HASHES = Array.from({ length: 100 }, (_, n): `0x${string}` => `0x${(n + 1).toString(16).padStart(64, '0')}`)
/** Enough recipients for three filters, each of which has at most 100 recipients. */
const RECIPIENTS = Array.from({ length: 300 }, (_, n) => address(`0x${(n + 1).toString(16).padStart(40, '0')}`))

interface Node extends FakeServer {
  /** How many calls each request had. */
  readonly sizes: number[]
  head: bigint
  /** Responds to a whole request instead of the node; returns false to leave it to the node. */
  refuse: (calls: readonly RpcCall[], response: ServerResponse) => boolean
  /** Responds to one call instead of the node, with a result or an error. */
  answer: (call: RpcCall) => { result: unknown } | { error: object } | undefined
}

const opened: { close(): unknown }[] = []
after(() => Promise.all(opened.map((one) => one.close())))

describe('a node that accepts only few calls in a request', () => {
  type Refuse = (response: ServerResponse, calls: readonly RpcCall[]) => void
  const refusals: [string, number, Refuse][] = [
    [
      'geth: one entry with an error',
      20,
      (response, [first]) =>
        answerJson(response, [{ id: first?.id, error: { code: -32600, message: 'batch too large' } }]),
    ],
    [
      'Erigon: one object',
      100,
      (response) =>
        answerJson(response, {
          id: null,
          error: { code: -32000, message: 'batch limit 100 exceeded. Requested: 101' },
        }),
    ],
    [
      'proxyd: one object',
      10,
      (response) =>
        answerJson(response, { id: null, error: { code: -32014, message: 'too many RPC calls in batch request' } }),
    ],
    [
      'Nethermind: one object with a code of its own',
      10,
      (response) => answerJson(response, { id: null, error: { code: -32005, message: 'Limit exceeded' } }),
    ],
    [
      'a provider: status 500 and words',
      3,
      (response) =>
        answerJson(
          response,
          { id: null, error: { code: 31, message: 'Batch of more than 3 requests are not allowed' } },
          500,
        ),
    ],
    ['a proxy: status 413 without words', 10, (response) => void response.writeHead(413).end()],
    ['status 400', 1, (response) => answerJson(response, { error: { code: -32600, message: 'no batches' } }, 400)],
    [
      'geth: the answers have grown too long',
      30,
      (response, calls) =>
        answerJson(
          response,
          calls.map(({ id }, index) =>
            index < 30 ? { id, result: null } : { id, error: { code: -32003, message: 'response too large' } },
          ),
        ),
    ],
  ]
  for (const [name, callsMax, refuse] of refusals) {
    it(`gets smaller requests, and its limit is remembered (${name})`, async () => {
      const node = await startNode()
      node.refuse = (calls, response) => {
        if (calls.length <= callsMax) return false
        refuse(response, calls)
        return true
      }
      const chain = open([node])
      assert.equal((await chain.readReceipts(HASHES)).size, HASHES.length)
      const learned = node.sizes.splice(0)
      assert.ok(learned.filter((size) => size > callsMax).length <= 8, String(learned))
      assert.equal((await chain.readReceipts(HASHES)).size, HASHES.length)
      // A larger request is tried from time to time, but rarely.
      assert.ok(node.sizes.filter((size) => size > callsMax).length <= 4, String(node.sizes))
      assert.ok(node.sizes.length <= (2 * HASHES.length) / callsMax + 10, String(node.sizes))
      assert.doesNotMatch(logOf(chain), /out of service/)
    })
  }

  it('gets no smaller requests if it limits the rate or the blocks of a query, whatever its message says', async () => {
    for (const message of [
      'rate limit exceeded',
      'daily request count exceeded',
      'Too many requests per second',
      'You can make eth_getLogs requests with up to a 10 block range.',
      'query returned more than 10000 results',
    ]) {
      const node = await startNode()
      node.refuse = (_, response) => (answerJson(response, { id: null, error: { code: -32005, message } }), true)
      const chain = open([node])
      await assert.rejects(chain.readReceipts(HASHES), /rejected the batch with code -32005/)
      assert.equal(node.sizes.length, 1)
    }
  })

  it('is skipped if it refuses even a single call', async () => {
    const [first, second] = [await startNode(), await startNode()]
    first.refuse = (_, response) => (void response.writeHead(413).end(), true)
    assert.equal((await open([first, second]).readReceipts(HASHES)).size, HASHES.length)
    assert.equal(first.sizes.at(-1), 1)
  })

  it('proves in every request for logs that its machine had the whole range', async () => {
    const node = await startNode()
    const requests: (readonly RpcCall[])[] = []
    let lagsIn = -1
    node.refuse = (calls, response) => {
      if (calls.length > 3) return (void response.writeHead(413).end(), true)
      requests.push(calls)
      return false
    }
    const isByHash = ({ method, params }: RpcCall): boolean =>
      method === 'eth_getLogs' && 'blockHash' in Object(params[0])
    node.answer = (call) =>
      isByHash(call) && requests.length === lagsIn ? { error: { code: -32000, message: 'unknown block' } } : undefined
    const chain = open([node])
    const range = { from: 15n, to: 16n, recipients: RECIPIENTS }
    await chain.readTransfers(range)
    requests.length = 0
    await chain.readTransfers(range)
    const withLogs = requests.filter((calls) => calls.some(({ method }) => method === 'eth_getLogs'))
    assert.ok(withLogs.length >= 2)
    for (const [first] of withLogs) assert.ok(first !== undefined && isByHash(first))

    requests.length = 0
    lagsIn = 3
    // The last block is left out, and the first one is read alone.
    assert.equal((await chain.readTransfers(range)).to, 15n)
  })
})

describe('a node that lags behind another machine', () => {
  const errors: [string, object][] = [
    ['geth', { code: -32000, message: 'header not found' }],
    ['reth', { code: -32001, message: 'unknown block number' }],
    ['a provider', { code: -32000, message: 'Unknown block' }],
    ['another one', { code: -32014, message: 'block not found: 0x10' }],
  ]
  for (const [name, error] of errors) {
    it(`is asked at the block before, and stays in service (${name})`, async () => {
      const [node, second] = [await startNode(), await startNode()]
      node.answer = ({ method, params }) => (method === 'eth_call' && params[1] === '0x10' ? { error } : undefined)
      const chain = open([node, second])
      assert.equal((await chain.readUsdcBalance(USDC)).blockNumber, 15n)
      assert.deepEqual(second.sizes, [])
      assert.doesNotMatch(logOf(chain), /out of service/)
    })
  }

  it('is skipped if it is further behind, and still asked first the next time', async () => {
    const [node, second] = [await startNode(), await startNode()]
    const error = { code: -32000, message: 'header not found' }
    node.answer = ({ method }) => (method === 'eth_call' ? { error } : undefined)
    second.head = 20n
    const chain = open([node, second])
    assert.equal((await chain.readUsdcBalance(USDC)).blockNumber, 20n)
    assert.equal(await chain.readHead(), 16n)
    second.answer = node.answer
    await assert.rejects(chain.readUsdcBalance(USDC), ChainBehind)
    assert.doesNotMatch(logOf(chain), /out of service/)
  })

  it('makes the chain fail with ChainBehind if no node has the block', async () => {
    const node = await startNode()
    node.answer = ({ method }) => (method === 'eth_getBlockByNumber' ? { result: null } : undefined)
    await assert.rejects(open([node]).readBlockHash(16n), ChainBehind)
  })
})

describe('a node that sends Retry-After', () => {
  const waits: [string, Record<string, string>, number][] = [
    ['for seconds', { 'retry-after': '7' }, 7_000],
    ['until a date', { 'retry-after': 'Wed, 21 Oct 2026 07:28:09 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 9_000],
    ['for a day', { 'retry-after': '86400' }, RETRY_AFTER_MS_MAX],
    ['for no time', { 'retry-after': '0' }, RETRY_AFTER_MS_MIN],
  ]
  for (const status of [429, 503]) {
    for (const [name, headers, pauseMs] of waits) {
      it(`is not called before that time, even if it is the only one: ${name}, with status ${status}`, async (t) => {
        const timeouts = mockTimeouts(t)
        const node = await startNode()
        const chain = open([node])
        node.refuse = (_, response) => (void response.writeHead(status, headers).end(), true)
        await assert.rejects(chain.readHead(), ChainUnavailable)
        node.refuse = () => false
        await assert.rejects(chain.readHead(), /asked us to wait/)
        // Other reads are rejected too, because they share the node's rate limit.
        await assert.rejects(chain.readBlockHash(16n), /asked us to wait/)
        assert.equal(node.sizes.length, 1)
        assert.deepEqual(
          timeouts.map(({ ms }) => ms),
          [pauseMs],
        )
        timeouts[0]?.end()
        assert.equal(await chain.readHead(), 16n)
      })
    }
  }

  it('is skipped until then', async (t) => {
    const timeouts = mockTimeouts(t)
    const [first, second] = [await startNode(), await startNode()]
    second.head = 20n
    const chain = open([first, second])
    first.refuse = (_, response) => (void response.writeHead(429, { 'retry-after': '7' }).end(), true)
    assert.equal(await chain.readHead(), 20n)
    assert.equal(await chain.readHead(), 20n)
    assert.equal(first.sizes.length, 1)
    assert.equal(timeouts.length, 1)
  })

  it('cools down as after any fault if the header is missing', async (t) => {
    const timeouts = mockTimeouts(t)
    const node = await startNode()
    const chain = open([node])
    node.refuse = (_, response) => (void response.writeHead(429).end(), true)
    await assert.rejects(chain.readHead(), /HTTP status 429/)
    assert.equal(timeouts[0]?.ms, NODE_COOLDOWN_MS)
    node.refuse = () => false
    assert.equal(await chain.readHead(), 16n)
  })
})

/** A node with 17 blocks, and a receipt for every hash. */
async function startNode(): Promise<Node> {
  const server = await startFakeServer((_, body, response) => {
    const calls = JSON.parse(body) as RpcCall[]
    node.sizes.push(calls.length)
    if (node.refuse(calls, response)) return
    answerJson(
      response,
      calls.map((call) => ({ id: call.id, ...(node.answer(call) ?? { result: answer(call) }) })),
    )
  })
  const answer = ({ method, params }: RpcCall): unknown => {
    if (method === 'eth_chainId') return hex(BigInt(CHAIN_ID))
    if (method === 'eth_blockNumber') return hex(node.head)
    if (method === 'eth_call') return word(7n)
    if (method === 'eth_getLogs') return []
    if (method === 'eth_getTransactionReceipt') {
      const block = { blockNumber: '0x10', blockHash: word(16n) }
      return { transactionHash: params[0], ...block, from: `0x${'1'.repeat(40)}`, status: '0x1', logs: [] }
    }
    const number = BigInt(String(params[0]))
    return { number: hex(number), hash: word(number), parentHash: word(number - 1n), timestamp: hex(number) }
  }
  const node: Node = { ...server, sizes: [], head: 16n, refuse: () => false, answer: () => undefined }
  opened.push(node)
  return node
}

const logs = new WeakMap<Chain, string[]>()

function open(nodes: readonly Node[]): Chain {
  const lines: string[] = []
  const sink = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) })
  const rpcUrls = nodes.map(({ url }) => url)
  const chain = openChain(
    { mode: 'test', chainId: CHAIN_ID, rpcUrls, usdc: USDC, confirmations: 1, timeoutMs: TIMEOUT_MS },
    { logger: pino(sink) },
  )
  opened.unshift(chain)
  logs.set(chain, lines)
  return chain
}

function logOf(chain: Chain): string {
  return (logs.get(chain) ?? []).join('')
}

/** Replaces the cooldowns with signals that are aborted when the test says so. */
function mockTimeouts(t: TestContext): { readonly ms: number; end(): void }[] {
  const timeouts: { readonly ms: number; end(): void }[] = []
  t.mock.method(AbortSignal, 'timeout', (ms: number) => {
    const rest = new AbortController()
    timeouts.push({ ms, end: () => rest.abort() })
    return rest.signal
  })
  return timeouts
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}
