import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { RpcRefusal, startFakeChain, type FakeChain, type RpcCall } from '../../../test/support/wires/fake-chain.ts'
import { parseAddress, type Address } from '../values/address.ts'
import { microUsdc } from '../values/money.ts'
import { openChain, type Chain } from './open-chain.ts'

const CHAIN_ID = 84532
const USDC = address('0x036cbd53842c5426634e7929541ec2318f3dcf7e')
const WALLET = address(`0x${'2'.repeat(40)}`)
const PAYEE = address(`0x${'3'.repeat(40)}`)
const CONFIRMATIONS = 3
/**
 * The nonces of three authorizations. The first one was used in a block at the configured depth, the second one was
 * canceled in a newer block, and the third one was neither used nor canceled.
 */
const NONCES = [1, 2, 3].map((number) => `0x${String(number).repeat(64)}` as const)
const [IN_DEEP, IN_SHALLOW, NEVER] = NONCES as [`0x${string}`, `0x${string}`, `0x${string}`]
const HEAD = 100n
const DEEP = 98n
/** The fake chain's blocks are two seconds apart, and block 0 has the time 0. */
const DEEP_SECONDS = 196n

describe('reading authorizations', () => {
  let node: FakeChain
  let chain: Chain
  before(async () => {
    node = await startFakeChain(CHAIN_ID)
    const options = { mode: 'test', chainId: CHAIN_ID, rpcUrls: [node.url], usdc: USDC } as const
    chain = openChain({ ...options, confirmations: CONFIRMATIONS }, { logger: pino({ level: 'silent' }) })
    const transfer = { contract: USDC, from: WALLET, to: PAYEE, amountMicro: 5n }
    node.receipts.set(`0x${'d'.repeat(64)}`, { ...transfer, authorization: IN_DEEP, blockNumber: DEEP })
    node.receipts.set(`0x${'e'.repeat(64)}`, { ...transfer, cancels: [IN_SHALLOW], blockNumber: DEEP + 1n })
    node.receipts.set(`0x${'f'.repeat(64)}`, { ...transfer, blockNumber: DEEP + 1n })
  })
  beforeEach(() => {
    node.head = HEAD
    node.intercept = () => undefined
  })
  after(async () => {
    chain.close()
    await node.close()
  })

  test('the state is that of the block at the depth, and an authorization expires at its time to the second', async () => {
    assert.deepEqual(await read(DEEP_SECONDS), ['ended', 'expired', 'expired'])
    assert.deepEqual(await read(DEEP_SECONDS + 1n), ['open', 'open', 'open'])
    node.head += 1n
    assert.deepEqual(await read(DEEP_SECONDS), ['ended', 'ended', 'expired'])
  })

  test('a chain that is shorter than the depth shows nothing', async () => {
    node.head = 1n
    assert.deepEqual(await read(0n), ['open', 'open', 'open'])
  })

  const FAULTS: readonly (readonly [string, (call: RpcCall) => unknown])[] = [
    ['no contract', ({ method }) => (method === 'eth_call' ? '0x' : undefined)],
    ['another word', ({ method }) => (method === 'eth_call' ? `0x${'0'.repeat(63)}2` : undefined)],
    ['no such block', ({ method }) => (method === 'eth_getBlockByNumber' ? null : undefined)],
    ['a refused call', ({ method }) => (method === 'eth_call' ? refuse() : undefined)],
  ]
  for (const [name, intercept] of FAULTS) {
    test(`a node that returns ${name} proves nothing`, async () => {
      node.intercept = intercept
      await assert.rejects(read(DEEP_SECONDS), /no node of the test chain/)
    })
  }

  test('a reorganization of the block at the depth, while the states are read, proves nothing', async () => {
    node.intercept = ({ method }) => {
      if (method === 'eth_call') node.reorganize(CONFIRMATIONS - 1)
      return undefined
    }
    const others = new Map(node.receipts)
    assert.deepEqual(await read(DEEP_SECONDS), ['ended', 'expired', 'expired'])
    node.intercept = ({ method }) => {
      if (method === 'eth_call') node.reorganize(CONFIRMATIONS)
      return undefined
    }
    await assert.rejects(read(DEEP_SECONDS), /reorganized below the depth/)
    for (const [hash, receipt] of others) node.receipts.set(hash, receipt)
  })

  test('a search finds the transactions that used or canceled authorizations', async () => {
    const wanted = NONCES.map((nonce) => ({ authorizer: WALLET, nonce }))
    const { found, searchedTo, searchedToSeconds } = await chain.findAuthorizations(wanted, { from: 1n, to: HEAD })
    assert.deepEqual(
      found.map(({ nonce, txHash }) => [nonce, txHash.at(-1)]),
      [
        [IN_DEEP, 'd'],
        [IN_SHALLOW, 'e'],
      ],
    )
    assert.deepEqual([searchedTo, searchedToSeconds], [HEAD, HEAD * 2n])
    const others = [{ authorizer: PAYEE, nonce: IN_DEEP }]
    assert.deepEqual((await chain.findAuthorizations(others, { from: 1n, to: HEAD })).found, [])
  })

  test('a search for a transfer leaves out the equal transfer of an authorization', async () => {
    const pattern = { from: WALLET, to: PAYEE, amountMicro: microUsdc(5n) }
    const { found } = await chain.findTransfers(pattern, { from: 1n, to: HEAD })
    assert.deepEqual(
      found.map((txHash) => txHash.at(-1)),
      ['f'],
    )
  })

  async function read(validBeforeSeconds: bigint): Promise<readonly string[]> {
    const authorizations = [IN_DEEP, IN_SHALLOW, NEVER].map((nonce) => ({
      authorizer: WALLET,
      nonce,
      validBeforeSeconds,
    }))
    return await chain.readAuthorizationStates(authorizations)
  }
})

function address(text: string): Address {
  const parsed = parseAddress(text)
  assert.ok(parsed)
  return parsed
}

function refuse(): never {
  throw new RpcRefusal(-32000)
}
