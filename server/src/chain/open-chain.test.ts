import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { after, describe, it } from 'node:test'
import { pino } from 'pino'
import { parseAddress, type Address } from '../values/address.ts'
import { ChainUnavailable } from './errors.ts'
import { openChain, RECEIPTS_PER_BATCH_MAX } from './open-chain.ts'
import { NODE_COOLDOWN_MS } from './rpc-nodes.ts'
import { findFreePort } from '../../../test/support/free-port.ts'
import { waitFor } from '../../../test/support/wait-for.ts'

const CHAIN_ID = 84532
const USDC = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
/** A time limit that is long enough for a busy machine. */
const PATIENT_MS = 20_000
/** A short time limit, for a node that hangs. Another node responds within this time even on a busy machine. */
const HASTY_MS = 1_500

type Call = { id: number; method: string; params: unknown[] }
type Answer = (calls: Call[], response: ServerResponse, request: IncomingMessage) => void
type FakeNode = {
  url: string
  port: number
  batches: Call[][]
  headers: IncomingMessage['headers'][]
  answer: Answer
  hangUp: () => void
}

const servers: Server[] = []
const chains: { close(): void }[] = []
after(() => {
  for (const chain of chains) chain.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

function address(text: string): Address {
  const parsed = parseAddress(text)
  assert.ok(parsed)
  return parsed
}

/** Starts a node that responds as `state` says, until a test sets another `answer`. */
async function startNode(state: { chainId?: number; head?: number; balance?: bigint } = {}): Promise<FakeNode> {
  const node: FakeNode = {
    url: '',
    port: 0,
    batches: [],
    headers: [],
    answer: answerWell(state),
    hangUp: () => server.closeAllConnections(),
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const calls = JSON.parse(Buffer.concat(chunks).toString()) as Call[]
      node.batches.push(calls)
      node.headers.push(request.headers)
      node.answer(calls, response, request)
    })
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  node.port = (server.address() as AddressInfo).port
  node.url = `http://127.0.0.1:${node.port}/v2/SECRET-API-KEY`
  return node
}

function answerWell({ chainId = CHAIN_ID, head = 16, balance = 7n }): Answer {
  return (calls, response) => {
    const results = calls.map(({ id, method, params }) => {
      if (method === 'eth_chainId') return { id, result: hex(chainId) }
      if (method === 'eth_blockNumber') return { id, result: hex(head) }
      if (method === 'eth_call') return { id, result: `0x${balance.toString(16).padStart(64, '0')}` }
      return { id, result: params[0] === minedHash(1) ? receipt(minedHash(1)) : null }
    })
    // The node responds in reverse order, which JSON-RPC allows.
    sendJson(response, 200, results.toReversed())
  }
}

function answerAll(result: string, id?: number) {
  return (calls: Call[], response: ServerResponse) => {
    const answers = calls.map((call) => ({ id: id ?? call.id, result }))
    sendJson(response, 200, answers)
  }
}

function refuseAll(error: object): Answer {
  return (calls, response) => {
    const answers = calls.map(({ id }) => ({ id, error }))
    sendJson(response, 200, answers)
  }
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}

function minedHash(n: number): `0x${string}` {
  return `0x${n.toString(16).padStart(64, '0')}`
}

function receipt(hash: string): object {
  return {
    transactionHash: hash,
    blockNumber: '0x10',
    blockHash: `0x${'b'.repeat(64)}`,
    from: USDC,
    status: '0x1',
    logs: [],
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function open(nodes: readonly { url: string }[], timeoutMs = PATIENT_MS) {
  const lines: string[] = []
  const sink = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) })
  const chain = openChain(
    { mode: 'test', chainId: CHAIN_ID, rpcUrls: nodes.map(({ url }) => url), usdc: USDC, confirmations: 1, timeoutMs },
    { logger: pino(sink) },
  )
  chains.push(chain)
  return Object.assign(chain, { log: () => lines.join('') })
}

async function failureOf(promise: Promise<unknown>): Promise<ChainUnavailable> {
  const error: unknown = await promise.then(
    () => assert.fail('it answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ChainUnavailable, String(error))
  return error
}

describe('a chain with one node', () => {
  it('checks the chain id once, in the same round trip as the first call', async () => {
    const node = await startNode()
    const chain = open([node])
    assert.equal(await chain.readHead(), 16n)
    assert.equal(await chain.readHead(), 16n)
    const methods = node.batches.map((batch) => batch.map(({ method }) => method))
    assert.deepEqual(methods, [['eth_chainId', 'eth_blockNumber'], ['eth_blockNumber']])
  })

  it('reads a balance exactly at the block that it returns', async () => {
    const node = await startNode({ head: 0x1234, balance: 12_345_678n })
    const payer = address('0x52908400098527886e0f7030069857d2e4169ee7')
    assert.deepEqual(await open([node]).readUsdcBalance(payer), { balanceMicro: 12_345_678n, blockNumber: 0x1234n })
    const [call] = node.batches.at(-1) ?? []
    assert.deepEqual(call?.params, [
      { to: USDC, data: `0x70a08231000000000000000000000000${payer.slice(2).toLowerCase()}` },
      '0x1234',
    ])
  })

  it('reads all balances of one turn of the event loop in one batch, each address once', async () => {
    const node = await startNode()
    const chain = open([node])
    const many = Array.from({ length: 250 }, (_, i) => address(`0x${(i % 125).toString(16).padStart(40, '0')}`))
    const balances = await Promise.all(many.map((one) => chain.readUsdcBalance(one)))
    assert.equal(balances.length, 250)
    const sizes = node.batches.filter((batch) => batch.at(-1)?.method === 'eth_call').map((batch) => batch.length)
    assert.equal(sizes.length, 3)
    assert.ok(sizes.every((size) => size <= 100))
  })

  it('reads receipts in batches of the limit, leaving out those not mined', async () => {
    const node = await startNode()
    const hashes = Array.from({ length: RECEIPTS_PER_BATCH_MAX + 1 }, (_, i) => minedHash(i))
    const receipts = await open([node]).readReceipts(hashes)
    assert.deepEqual([...receipts.keys()], [minedHash(1)])
    assert.equal(receipts.get(minedHash(1))?.blockNumber, 16n)
    assert.deepEqual(
      node.batches.map((batch) => batch.filter(({ method }) => method !== 'eth_chainId').length),
      [RECEIPTS_PER_BATCH_MAX, 1],
    )
  })

  it('sends nothing if there are no receipts to read', async () => {
    const node = await startNode()
    assert.equal((await open([node]).readReceipts([])).size, 0)
    assert.equal(node.batches.length, 0)
  })

  it('sends credentials of the address as a header', async () => {
    const node = await startNode()
    await open([{ url: `http://user:p%40ss@127.0.0.1:${node.port}/` }]).readHead()
    assert.equal(node.headers[0]?.authorization, `Basic ${Buffer.from('user:p@ss').toString('base64')}`)
  })

  it('asks its only node again at once after a fault', async () => {
    const node = await startNode()
    const well = node.answer
    const chain = open([node])
    node.answer = (_, response) => sendJson(response, 503, {})
    await failureOf(chain.readHead())
    node.answer = well
    assert.equal(await chain.readHead(), 16n)
  })

  it('does not treat a missing contract as a balance of zero', async () => {
    const node = await startNode()
    const well = node.answer
    node.answer = (calls, response, request) => {
      if (calls[0]?.method !== 'eth_call') well(calls, response, request)
      else answerAll('0x')(calls, response)
    }
    const error = await failureOf(open([node]).readUsdcBalance(USDC))
    assert.match(error.message, /has no USDC contract/)
  })

  it('aborts calls in progress when it is closed, and rejects later ones', async () => {
    const node = await startNode()
    node.answer = () => undefined
    const chain = open([node], 60_000)
    const failure = failureOf(chain.readHead())
    await waitFor('a request', () => node.batches.length === 1)
    chain.close()
    await failure
    assert.match((await failureOf(chain.readHead())).message, /closed/)
  })
})

const FAULTS: [string, Answer, RegExp][] = [
  ['hangs', () => undefined, /did not respond in time/],
  ['sends headers and then hangs', (_, response) => void response.writeHead(200).write('['), /did not respond in time/],
  ['hangs up', (_, response) => response.destroy(), /cannot be reached/],
  ['is overloaded', (_, response) => sendJson(response, 503, {}), /HTTP status 503/],
  ['limits the rate by status', (_, response) => sendJson(response, 429, {}), /HTTP status 429/],
  ['redirects', (_, response) => void response.writeHead(307, { location: '/' }).end(), /returned HTTP status 307/],
  ['does not speak JSON', (_, response) => response.end('<html>'), /did not return JSON/],
  [
    'speaks JSON, but not a batch',
    (_, response) => sendJson(response, 200, { id: 0, result: '0x1' }),
    /did not return a complete batch/,
  ],
  [
    'breaks off behind what could be a whole batch',
    (calls, response) => {
      const text = JSON.stringify(calls.map(({ id }) => ({ id, result: '0x10' })))
      response.writeHead(200, { 'content-length': text.length + 1 }).write(text, () => response.destroy())
    },
    /cannot be reached/,
  ],
  ['has a status that no standard knows', (_, response) => sendJson(response, 999, []), /HTTP status 999|cannot be/],
  ['answers half', (calls, response) => answerAll('0x1')(calls.slice(1), response), /did not return a complete batch/],
  ['answers one call twice', answerAll(hex(CHAIN_ID), 0), /did not return a complete batch/],
  ['answers with no number', answerAll('latest'), /did not return a number/],
  ['limits the rate by code', refuseAll({ code: -32005, message: 'SECRET-API-KEY' }), /code -32005/],
  ['stands on another chain', answerWell({ chainId: 1 }), /is on chain 1, not 84532/],
  [
    'talks without end',
    (_, response) => {
      const pump = () => {
        while (!response.destroyed && response.write(' '.repeat(1 << 20)));
      }
      response.on('drain', pump)
      pump()
    },
    /too long a body|in time/,
  ],
]

function timeoutFor(fault: string): number {
  return fault.endsWith('hangs') ? HASTY_MS : PATIENT_MS
}

describe('a chain with two nodes', () => {
  for (const [name, answer, message] of FAULTS) {
    it(`skips a first node that ${name}, and remembers it`, async () => {
      const [first, second] = [await startNode(), await startNode({ head: 20 })]
      first.answer = answer
      const chain = open([first, second], timeoutFor(name))
      assert.equal(await chain.readHead(), 20n)
      assert.equal(await chain.readHead(), 20n)
      assert.equal(first.batches.length, 1)
    })

    it(`names the fault of a node that ${name}, and nothing secret`, async () => {
      const node = await startNode()
      node.answer = answer
      const chain = open([node], timeoutFor(name))
      const error = await failureOf(chain.readHead())
      assert.match(error.message, message)
      assert.match(error.message, /test chain \(84532\).*#0 127\.0\.0\.1/)
      assert.ok(error.cause instanceof Error)
      assert.doesNotMatch(`${error.message} ${error.stack} ${String(error.cause)} ${chain.log()}`, /SECRET|\/v2/)
      assert.match(chain.log(), /chain node taken out of service/)
    })
  }

  it('skips an address where nothing is listening', async () => {
    const second = await startNode({ head: 20 })
    const port = await findFreePort()
    assert.equal(await open([{ url: `http://127.0.0.1:${port}` }, second]).readHead(), 20n)
  })

  it('reads number and balance from the same node, even if the first one dies in between', async () => {
    const [first, second] = [await startNode({ head: 99, balance: 1n }), await startNode({ head: 20, balance: 2n })]
    const well = first.answer
    first.answer = (calls, response, request) => {
      if (calls.some(({ method }) => method === 'eth_call')) response.destroy()
      else well(calls, response, request)
    }
    assert.deepEqual(await open([first, second]).readUsdcBalance(USDC), { balanceMicro: 2n, blockNumber: 20n })
    assert.equal(second.batches.at(-1)?.[0]?.params[1], '0x14')
  })

  it('asks a node in its cooldown if the other one fails too', async () => {
    const [first, second] = [await startNode(), await startNode({ head: 20 })]
    const well = first.answer
    first.answer = (_, response) => response.destroy()
    const chain = open([first, second])
    assert.equal(await chain.readHead(), 20n)
    first.answer = well
    second.answer = (_, response) => response.destroy()
    assert.equal(await chain.readHead(), 16n)
    assert.match(chain.log(), /chain node back in service/)
  })

  it('reports the fault of every node if none can be used', async () => {
    const [first, second] = [await startNode({ chainId: 1 }), await startNode({ chainId: 10 })]
    const error = await failureOf(open([first, second]).checkChainId())
    assert.match(error.message, /#0 .* chain 1, not 84532; #1 .* chain 10, not 84532/)
    assert.ok(error.cause instanceof AggregateError)
  })

  it('puts a node back only after a probe, which no call waits for', async (t) => {
    const cooldowns: AbortController[] = []
    t.mock.method(AbortSignal, 'timeout', (ms: number) => {
      assert.equal(ms, NODE_COOLDOWN_MS)
      const cooldown = new AbortController()
      cooldowns.push(cooldown)
      return cooldown.signal
    })
    const [first, second] = [await startNode(), await startNode({ head: 20 })]
    const well = first.answer
    first.answer = () => undefined
    const chain = open([first, second], 60_000)
    // The first node would make this call wait for a minute, so the test cuts its connection.
    const stuck = chain.readHead()
    await waitFor('a request', () => first.batches.length === 1)
    first.answer = (_, response) => response.destroy()
    first.hangUp()
    assert.equal(await stuck, 20n)

    // The first node still hangs. The probe hangs with it, but the call does not.
    first.answer = () => undefined
    cooldowns[0]?.abort()
    assert.equal(await chain.readHead(), 20n)
    await waitFor('a second request', () => first.batches.length === 2)
    assert.equal(await chain.readHead(), 20n)
    first.hangUp()
    await waitFor('a second cooldown', () => cooldowns.length === 2)

    // The node works again: the next call starts the probe, and later calls use the node.
    first.answer = well
    cooldowns[1]?.abort()
    await setImmediate()
    assert.equal(await chain.readHead(), 20n)
    await waitFor('the node to be back', () => chain.log().includes('chain node back in service'))
    assert.equal(await chain.readHead(), 16n)
  })
})

describe('openChain', () => {
  it('rejects an invalid address, without repeating it', () => {
    for (const url of ['SECRET', 'ftp://SECRET/']) {
      assert.throws(
        () => open([{ url }]),
        (error: Error) => error instanceof TypeError && !/SECRET/.test(error.message),
      )
    }
    assert.throws(() => open([]), /no RPC address/)
  })

  it('reads the chain id again each time', async () => {
    const node = await startNode()
    const chain = open([node])
    await chain.checkChainId()
    node.answer = answerWell({ chainId: 5 })
    assert.match((await failureOf(chain.checkChainId())).message, /is on chain 5/)
  })
})
